import type { AssistantMessage, Message } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ModelUsage } from './usage.js';

/** Everything that one request to a model holds. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
}

/** `other` stands for a reason that is none of these. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other';

export interface ModelResponse {
  readonly message: AssistantMessage;
  /** Absent or null: the provider reported none. */
  readonly usage?: ModelUsage | null;
  readonly finishReason: FinishReason;
}

/** Deltas in the order in which they came, then exactly one `completed`. A stream that ends without it has failed. */
export type ModelStreamEvent =
  | { readonly type: 'text_delta'; readonly delta: string }
  | { readonly type: 'thinking_delta'; readonly delta: string }
  | { readonly type: 'completed'; readonly response: ModelResponse };

/** The seam to a model. The adapter owns its client, the wire format and retries before the first delta. */
export interface ModelAdapter {
  /** Shown in traces and results, such as `gpt-5-mini` or `offline`. */
  readonly name: string;
  /** True if no model is behind it. */
  readonly offline?: boolean;
  /** Acquires what requests need. A failure ends the run that asked for it. */
  start?(signal: AbortSignal): Promise<void>;
  /** Releases it; called once after a successful `start`. */
  stop?(): Promise<void>;
  /**
   * Ends soon after `signal` is aborted, by throwing.
   *
   * @throws ModelProviderError for every failure that the provider caused.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelStreamEvent>;
}
