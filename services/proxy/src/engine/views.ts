import type { Action, JsonObject, SkillRef } from '../domain/facts.js';
import type { TurnState } from '../domain/turn-state.js';
import type { TaskView, TurnView } from './engine-types.js';

export function viewOfTask(turn: TurnState): TaskView {
  const { closed } = turn;
  return {
    taskId: turn.taskId,
    contextId: turn.contextId,
    state: turn.taskState,
    at: turn.changedAt,
    messages: [turn.submitted.message],
    ...(closed !== undefined && { end: closed.end, statusMessageId: closed.messageId }),
    toolCallCount: turn.toolCallCount,
  };
}

/** What a driver sees of an open turn; the lists, which may be long, are made when they are read. */
export class OpenTurnView implements TurnView {
  constructor(private readonly turn: TurnState) {}

  get taskId(): string {
    return this.turn.taskId;
  }

  get contextId(): string {
    return this.turn.contextId;
  }

  get texts(): readonly string[] {
    return this.turn.submitted.texts;
  }

  get systemPrompt(): string | null {
    return this.turn.submitted.systemPrompt;
  }

  get skills(): readonly SkillRef[] {
    return this.turn.opened?.skills ?? [];
  }

  get pendingCalls(): readonly { readonly id: string | null; readonly name: string; readonly arguments: JsonObject }[] {
    const calls = this.turn.blocks.filter((block) => block.type === 'tool_use');
    return this.turn.expected
      .list()
      .map(({ index, callId, name }) => ({ id: callId, name, arguments: calls[index]?.input ?? {} }));
  }

  get actions(): readonly { readonly actionId: string; readonly done: boolean; readonly action: Action }[] {
    return Array.from(this.turn.actions.values(), ({ actionId, action, ended }) => ({
      actionId,
      done: ended !== undefined,
      action,
    }));
  }
}
