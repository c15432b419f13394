import type { AgentEvent, AgentEventSink } from '../events.js';
import type { SubagentUpdate } from './subagent-types.js';

/** Tells what a child does, from its events. Text that came in pieces is not told again as a whole. */
export class ChildUpdates implements AgentEventSink {
  #streamedTurn = 0;

  constructor(private readonly tell: (update: SubagentUpdate) => void) {}

  emit({ payload }: AgentEvent): void {
    switch (payload.kind) {
      case 'turn_started':
        this.tell({ kind: 'turn_started', turn: payload.turn });
        return;
      case 'assistant_text_delta':
        this.#streamedTurn = payload.turn;
        this.tell({ kind: 'text', text: payload.delta });
        return;
      case 'assistant_thinking_delta':
        this.tell({ kind: 'thought', text: payload.delta });
        return;
      case 'message_completed':
        if (this.#streamedTurn !== payload.turn && payload.message.content) {
          this.tell({ kind: 'text', text: payload.message.content });
        }
        return;
      case 'tool_started':
        this.tell({ kind: 'tool_started', callId: payload.toolCall.id, tool: payload.toolCall.name });
        return;
      case 'tool_completed': {
        const { id: callId, name: tool } = payload.toolCall;
        const failed = payload.result.error !== null || payload.result.cancelled;
        this.tell({ kind: 'tool_completed', callId, tool, failed });
        return;
      }
      default:
    }
  }
}
