import type {
  CompactionDecision,
  CompactionPreparation,
  CompactionRequest,
  CompactionResult,
} from './context/compaction-types.js';
import type { ControlInput } from './control.js';
import type { StopReason, ToolControl } from './enums.js';
import type { AssistantMessage, ToolCall, ToolMessage } from './messages.js';
import type { FinishReason } from './model/model-adapter.js';
import type { ModelUsage } from './model/usage.js';
import type { AgentRunResult } from './result.js';
import type { ToolProgressUpdate } from './tools/tool-progress.js';

/** A call and what came of it. */
export interface ToolCallResult {
  /** What the model is told; exactly one per call. */
  readonly message: ToolMessage;
  readonly control: ToolControl;
  /** The run was aborted before the call had given its own result. */
  readonly cancelled: boolean;
  readonly error: string | null;
}

/** What happened; `kind` tells which. */
export type AgentEventPayload =
  | { readonly kind: 'agent_started'; readonly task: string }
  | { readonly kind: 'agent_continued' }
  | { readonly kind: 'turn_started'; readonly turn: number }
  | { readonly kind: 'steering_applied'; readonly control: ControlInput; readonly targetTurn: number }
  | { readonly kind: 'steering_discarded'; readonly control: ControlInput; readonly reason: StopReason }
  | {
      readonly kind: 'context_pressure_evaluated';
      readonly turn: number;
      readonly decision: CompactionDecision;
      readonly preparation: CompactionPreparation | null;
    }
  | { readonly kind: 'compaction_started'; readonly request: CompactionRequest }
  | { readonly kind: 'compaction_completed'; readonly result: CompactionResult }
  | { readonly kind: 'compaction_failed'; readonly result: CompactionResult }
  | {
      readonly kind: 'message_completed';
      readonly turn: number;
      readonly message: AssistantMessage;
      readonly usage: ModelUsage | null;
      readonly finishReason: FinishReason;
    }
  | { readonly kind: 'assistant_text_delta'; readonly turn: number; readonly delta: string }
  | { readonly kind: 'assistant_thinking_delta'; readonly turn: number; readonly delta: string }
  | { readonly kind: 'tool_started'; readonly turn: number; readonly toolCall: ToolCall }
  | {
      readonly kind: 'tool_progressed';
      readonly turn: number;
      readonly toolCall: ToolCall;
      readonly update: ToolProgressUpdate;
    }
  | {
      readonly kind: 'tool_completed';
      readonly turn: number;
      readonly toolCall: ToolCall;
      readonly result: ToolCallResult;
    }
  | { readonly kind: 'turn_completed'; readonly turn: number }
  | { readonly kind: 'agent_finished'; readonly result: AgentRunResult };

export type AgentEventKind = AgentEventPayload['kind'];

/** All seventeen, in the order in which they are documented. */
export const AGENT_EVENT_KINDS = [
  'agent_started',
  'agent_continued',
  'turn_started',
  'steering_applied',
  'steering_discarded',
  'context_pressure_evaluated',
  'compaction_started',
  'compaction_completed',
  'compaction_failed',
  'message_completed',
  'assistant_text_delta',
  'assistant_thinking_delta',
  'tool_started',
  'tool_progressed',
  'tool_completed',
  'turn_completed',
  'agent_finished',
] as const satisfies readonly AgentEventKind[];

export interface AgentEvent {
  readonly agentId: string;
  /** 32 hexadecimal digits. */
  readonly runId: string;
  /** From 1 in each run, without gaps. */
  readonly sequence: number;
  readonly payload: AgentEventPayload;
}

/** Sees every event, awaited in order. What it throws is logged and hurts nobody. */
export interface AgentEventSink {
  emit(event: AgentEvent): Promise<void> | void;
}
