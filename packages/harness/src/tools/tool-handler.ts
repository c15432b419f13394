import type { JsonObject } from '../json.js';
import type { StepOutcome } from './step-outcome.js';
import type { ToolDefinition } from './tool-definition.js';
import type { ToolProgressReporter } from './tool-progress.js';

/** One call on its way to its tool. Arguments are a JSON object already. */
export interface ToolCallContext {
  readonly agentId: string;
  readonly runId: string;
  /** From 1 in each run. */
  readonly turn: number;
  readonly callId: string;
  readonly tool: ToolDefinition;
  readonly arguments: JsonObject;
  /** Aborted when the run is aborted or the call's own time is over. A tool then ends soon. */
  readonly signal: AbortSignal;
  readonly progress: ToolProgressReporter;
}

/** What handlers and middlewares hear when a run begins. */
export interface TaskContext {
  readonly agentId: string;
  readonly runId: string;
  /** Null for a run that continues. */
  readonly task: string | null;
  readonly signal: AbortSignal;
}

/** A group of tools that share resources. */
export interface ToolHandler {
  /** Read after `start`: a handler may find its tools while it starts. Names are unique in an agent. */
  readonly tools: readonly ToolDefinition[];
  start?(signal: AbortSignal): Promise<void>;
  stop?(): Promise<void>;
  onTask?(task: TaskContext): Promise<void> | void;
  /** What it throws becomes an error result that the model sees. Anything but a StepOutcome is taken as data. */
  call(context: ToolCallContext): Promise<unknown>;
}

export type ToolNext = (context: ToolCallContext) => Promise<StepOutcome>;

/** One link of the chain around every call of a known tool. */
export interface ToolMiddleware {
  /** Hears the tools of all handlers; a failure rolls the start back. */
  start?(tools: readonly ToolDefinition[], signal: AbortSignal): Promise<void> | void;
  stop?(): Promise<void>;
  onTask?(task: TaskContext): Promise<void> | void;
  handle(context: ToolCallContext, next: ToolNext): Promise<StepOutcome>;
}
