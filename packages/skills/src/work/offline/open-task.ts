import type { Message, ToolCall } from '@parley/harness';
import { asRecord } from '../tasks/as-record.js';
import { readTaskMessage, type TaskMessage } from '../tasks/task-message.js';

/** A call of a task, and what it gave. */
export interface TaskCall {
  readonly call: ToolCall;
  /** Undefined for a call without a readable result. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
}

/** Everything that belongs to the newest task of a conversation: other tasks may have come between its turns. */
export interface OpenTask {
  /** Its first message, then the follow-ups. */
  readonly messages: readonly [TaskMessage, ...TaskMessage[]];
  readonly calls: readonly TaskCall[];
}

/** @returns undefined if the newest message of the user is not one of a task. */
export function readOpenTask(messages: readonly Message[]): OpenTask | undefined {
  const found: TaskMessage[] = [];
  const calls: TaskCall[] = [];
  let taskId: string | undefined;
  let end = messages.length;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.role !== 'user') continue;
    const read = readTaskMessage(message.content);
    if (read === undefined && taskId === undefined) return undefined;
    taskId ??= read?.task_id;
    if (read?.task_id === taskId && read !== undefined) {
      found.unshift(read);
      calls.unshift(...callsIn(messages.slice(at + 1, end)));
      if (!read.follow_up) break;
    }
    end = at;
  }
  const [first, ...rest] = found;
  return first === undefined ? undefined : { messages: [first, ...rest], calls };
}

function callsIn(messages: readonly Message[]): TaskCall[] {
  const results = new Map<string, string>();
  for (const message of messages) if (message.role === 'tool') results.set(message.toolCallId, message.content);
  return messages
    .flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
    .map((call) => ({ call, result: parsed(results.get(call.id)) }));
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}
