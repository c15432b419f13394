import type { Logger } from '@parley/service-kit';
import type { CommandRunner, ToolCaller } from '../actions/action-types.js';
import type { FactLog } from '../journal/fact-log.js';
import type { Recorder } from '../record/recorder-types.js';

/** Bounds of what a proxy keeps and runs. */
export interface EngineLimits {
  /** Turns open at once; further messages wait. Default 256. */
  readonly maxOpenTurns: number;
  /** Messages that wait in one context. Default 64. */
  readonly maxQueuedPerContext: number;
  /** Messages that wait in all. Default 1024. */
  readonly maxQueued: number;
  /** Actions of one turn, finished ones included. Default 10,000. */
  readonly maxActionsPerTurn: number;
  /** Commands that run at once; further ones wait. Default 128. */
  readonly maxRunningCommands: number;
  /** Tasks kept, open ones included; the longest ended go first. Default 4096. */
  readonly maxKeptTasks: number;
  /** Characters of a running action's output kept for `after`. Default 262,144. */
  readonly maxLiveOutput: number;
}

export const DEFAULT_LIMITS: EngineLimits = {
  maxOpenTurns: 256,
  maxQueuedPerContext: 64,
  maxQueued: 1024,
  maxActionsPerTurn: 10_000,
  maxRunningCommands: 128,
  maxKeptTasks: 4096,
  maxLiveOutput: 262_144,
};

export interface ProxyEngineDeps {
  readonly log: FactLog;
  readonly recorder: Recorder;
  /** Undefined: a proxy that works in no sandbox. */
  readonly commands: CommandRunner | undefined;
  readonly tools: ToolCaller;
  readonly logger: Logger;
  /** Default `DEFAULT_LIMITS`, each. */
  readonly limits?: Partial<EngineLimits>;
  /** How long `next`, `act` and `result` wait. Default 25,000. */
  readonly longPollMs?: number;
  /** Milliseconds since the epoch, with a fraction. Default: the clock. */
  readonly clock?: () => number;
  /** Hex digits of so many random bytes. */
  readonly random?: (bytes: number) => string;
  /** Of tasks, contexts and messages. Default: random UUIDs. */
  readonly ids?: () => string;
}
