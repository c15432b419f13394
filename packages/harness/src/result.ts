import type { RunStatus, StopReason } from './enums.js';
import type { RunUsage } from './model/usage.js';

/** How a run ended: never only text. */
export interface AgentRunResult {
  readonly runId: string;
  readonly status: RunStatus;
  readonly stopReason: StopReason;
  /** The answer, a tool's data as text, or null. */
  readonly output: string | null;
  /** Requests to the model that became turns, from 1 in each run. */
  readonly turns: number;
  readonly usage: RunUsage;
  /** Null for a completed run. */
  readonly error: string | null;
  /** Text of an answer that broke off. Not part of the history. */
  readonly partial?: string;
  /** What failed where no turn was to blame. */
  readonly phase?: 'start' | 'session' | 'task_hook' | 'skill';
}

/** Limits of one run, checked between turns. */
export interface RunBudget {
  readonly maxTotalTokens?: number;
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  /** Requests to the model. */
  readonly maxRequests?: number;
}
