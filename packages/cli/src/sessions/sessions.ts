import type { AgentApi } from '@parley/harness';

/** A stored session, or one branch of it. */
export interface SessionSummary {
  /** `ID`, or `ID@BRANCH` for a branch that is not the main one. */
  readonly ref: string;
  /** What was asked first; empty if nothing was yet. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  readonly messageCount: number;
}

/** A session with an agent that goes on with it. */
export interface OpenSession {
  readonly ref: string;
  readonly agent: AgentApi;
  /** What somebody should know about how it was opened, such as a run that had been cut off. */
  readonly notices: readonly string[];
}

/** What can be done with stored sessions. Each opened one gets an agent of its own. */
export interface Sessions {
  /** A new session; with an id that exists already, that one. */
  create(id?: string): Promise<OpenSession>;
  /** @throws UsageError if there is none, or several begin like this. */
  open(ref: string): Promise<OpenSession>;
  /** A new branch that begins with the history of another. @throws UsageError as `open`. */
  fork(ref: string): Promise<OpenSession>;
  /** Newest first; of so many sessions at most, default 100. */
  list(limit?: number): Promise<SessionSummary[]>;
}
