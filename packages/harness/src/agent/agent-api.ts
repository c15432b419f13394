import type { CompactionResult } from '../context/compaction-types.js';
import type { ControlReceipt } from '../control.js';
import type { AgentStatus, ContinueRejectedReason } from '../enums.js';
import type { AgentEvent } from '../events.js';
import type { Message } from '../messages.js';
import type { AgentRunResult } from '../result.js';
import type { Session } from '../session/session-types.js';
import type { RunOptions } from './agent-options.js';

/** A follow-up that was asked for. Giving up the wait cancels nothing. */
export interface FollowUpHandle {
  readonly receipt: ControlReceipt;
  readonly accepted: boolean;
  /** @throws FollowUpRejectedError if it was not accepted, FollowUpDiscardedError if it never ran. */
  wait(signal?: AbortSignal): Promise<AgentRunResult>;
}

/** What a user of an agent can do with it. Runs of one agent come one after the other. */
export interface AgentApi {
  readonly agentId: string;
  readonly status: AgentStatus;
  /** The history without the system prompt. */
  readonly messages: readonly Message[];
  readonly lastResult: AgentRunResult | null;
  readonly canContinue: boolean;
  readonly continueRejectionReason: ContinueRejectedReason | null;
  /** Starts model, handlers and middlewares; `run` does it by itself. @throws what failed, after rolling back. */
  start(): Promise<void>;
  /**
   * Resolves with the result; a failure is a result too. A run whose signal is aborted while it waits for others leaves
   * the line: a result, and nothing else, tells of it.
   *
   * @throws AgentShutDownError after `shutdown`, RangeError for a budget that is none.
   */
  run(task: string, options?: RunOptions): Promise<AgentRunResult>;
  /** @throws ContinueRejectedError */
  continueRun(options?: Omit<RunOptions, 'skill'>): Promise<AgentRunResult>;
  /** @throws RangeError for blank text. */
  steer(text: string): ControlReceipt;
  /** @throws RangeError for blank text. */
  followUp(text: string, options?: Omit<RunOptions, 'signal'>): FollowUpHandle;
  /** True if something was running that had not been aborted yet. */
  abort(reason?: string): boolean;
  /**
   * Compacts the history now, as an operation of its own; a failure is a result too.
   *
   * @throws HarnessError `compaction_not_configured` without a compactor.
   */
  compact(options?: { readonly signal?: AbortSignal }): Promise<CompactionResult>;
  /**
   * Resolves when no run, waiting run, follow-up or compaction is left and every sink has seen its end. Not to be
   * awaited by a sink, tool or hook: it would wait for itself.
   */
  waitForIdle(): Promise<void>;
  /**
   * Aborts what runs, turns away what waits, discards follow-ups, waits for the end, releases resources. Idempotent.
   * Sinks, tools and hooks must not await it.
   */
  shutdown(): Promise<void>;
  /** Replaces the history. @throws if active, if a journal records it, or if a call in it has no result. */
  reset(messages?: readonly Message[]): void;
  /** Takes over a stored session. @throws SessionError if it is another agent's or has an unfinished run. */
  restore(session: Session): void;
  /**
   * Events as they happen, until the reader stops or the agent shuts down. The buffer is bounded: a reader that is
   * more than `capacity` (default 10,000) events behind gets a RangeError.
   */
  events(options?: { readonly signal?: AbortSignal; readonly capacity?: number }): AsyncIterable<AgentEvent>;
}
