import type { StopReason } from '../enums.js';
import type { AgentEventPayload } from '../events.js';
import type { AssistantMessage, ToolMessage } from '../messages.js';
import type { RunObserver } from '../run-observer.js';

/** The calls of one stored answer, and the ways in which they reach the run that asked for them. */
export interface ToolTurn {
  readonly agentId: string;
  readonly runId: string;
  /** From 1 in each run. */
  readonly turn: number;
  readonly message: AssistantMessage;
  /** Aborted with an Error whose message is the reason. */
  readonly signal: AbortSignal;
  /** Shows an event. Within a turn `emit` and `commit` are never called while one of them is pending. */
  emit(payload: AgentEventPayload): Promise<void>;
  /**
   * Stores results, in the order of the calls, before their `tool_completed` events. A rejection ends the turn: no
   * further call starts, running ones are aborted and waited for, and the rejection is passed on.
   */
  commit(messages: readonly ToolMessage[]): Promise<void>;
  readonly observers: readonly RunObserver[];
}

/** Stop reasons that a call can bring about. */
export type ToolStopReason = Extract<
  StopReason,
  'tool_completion' | 'tool_rejected' | 'tool_cancelled' | 'repeated_tool_call'
>;

/** What the run does next. Whatever it is, every call of the message has its result by then. */
export type ToolTurnOutcome =
  | { readonly kind: 'continue' }
  | {
      readonly kind: 'ended';
      readonly stopReason: ToolStopReason;
      /** The data of the tool that ended the run, as the model would have seen it; null after a repeated call. */
      readonly output: string | null;
      readonly error: string | null;
    }
  | { readonly kind: 'aborted' };
