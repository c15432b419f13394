import type { ModelRequest, ModelResponse } from './model/model-adapter.js';
import type { AgentRunResult } from './result.js';
import type { ToolCallResult } from './events.js';
import type { ToolCall } from './messages.js';
import type { ToolDefinition } from './tools/tool-definition.js';
import type { SessionRunIntent } from './enums.js';

export interface ObservedRun {
  readonly agentId: string;
  readonly runId: string;
  readonly task: string | null;
  readonly intent: SessionRunIntent;
  readonly sessionId: string | null;
  readonly modelName: string;
}

export interface ObservedModelRequest {
  readonly agentId: string;
  readonly runId: string;
  readonly turn: number;
  readonly modelName: string;
  readonly request: ModelRequest;
}

export interface ObservedToolCall {
  readonly agentId: string;
  readonly runId: string;
  readonly turn: number;
  readonly toolCall: ToolCall;
  /** Undefined for a tool that nobody offers. */
  readonly tool: ToolDefinition | undefined;
}

/**
 * Wraps the three things of a run that take time, so that what happens inside is attributed to them (as a span does).
 * Each calls `work` exactly once and gives back what it gave, or throws what it threw.
 */
export interface RunObserver {
  aroundRun(run: ObservedRun, work: () => Promise<AgentRunResult>): Promise<AgentRunResult>;
  aroundModelRequest(request: ObservedModelRequest, work: () => Promise<ModelResponse>): Promise<ModelResponse>;
  aroundToolCall(call: ObservedToolCall, work: () => Promise<ToolCallResult>): Promise<ToolCallResult>;
}
