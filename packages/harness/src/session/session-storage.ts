import type {
  SessionBranch,
  SessionCheckout,
  SessionRecord,
  SessionRecordDraft,
  SessionRetry,
  StoredSession,
} from './session-types.js';

export interface SessionListing {
  readonly sessionId: string;
  readonly agentId: string | null;
  /** When it was last written, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** Held for the length of a run. The kernel gives it free when the process ends, however it ends. */
export interface SessionRunLock {
  readonly sessionId: string;
  readonly branchId: string;
  /** Idempotent; never throws. */
  release(): void;
}

export interface BranchOptions {
  /** Default `main`. */
  readonly branchId?: string;
}

export interface AppendOptions extends BranchOptions {
  /** The id of the record that must be the branch's head, null for none. Left out: not checked. */
  readonly expectedHead?: string | null;
  /** Ends the wait for the lock; a write that has begun is finished. */
  readonly signal?: AbortSignal;
}

export interface NewBranchOptions {
  /** Name of the new branch; default one that is made up. 1–128 letters, digits and `._/-`. */
  readonly branchId?: string;
  /** Default `main`. */
  readonly sourceBranchId?: string;
  readonly signal?: AbortSignal;
}

export interface ForkOptions extends NewBranchOptions {
  /** A record on the source branch; default its head. */
  readonly fromRecordId?: string;
}

export interface RollbackOptions extends NewBranchOptions {
  /** A record on the source branch. */
  readonly toRecordId: string;
}

export interface RetryOptions extends NewBranchOptions {
  readonly runId: string;
}

export interface RunLockOptions extends BranchOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; 0 does not wait. Default 10,000. */
  readonly waitMs?: number;
}

export interface AbandonOptions extends RunLockOptions {
  /** The lock of this branch, if the caller holds it; else it is taken, so that a live run is never abandoned. */
  readonly lock?: SessionRunLock;
  /** Stored as the run's error. */
  readonly reason?: string;
}

export interface AbandonedRun {
  readonly runId: string;
  /** Ids of the calls that were given the result `outcome_unknown`. */
  readonly unknownCallIds: readonly string[];
  readonly session: StoredSession;
}

export interface RepairReport {
  readonly sessionId: string;
  readonly keptRecords: number;
  /** What was wrong; null if nothing was. */
  readonly problem: string | null;
  readonly setAsideBytes: number;
  /** Where the rest was put; null if nothing was set aside. */
  readonly setAsidePath: string | null;
}

/**
 * Keeps sessions as journals: records are only added, each durable before `append` resolves. All methods throw
 * SessionError or a subclass; waits end with SessionLockTimeoutError or the reason of the caller's signal.
 */
export interface SessionStorage {
  /**
   * Adds records to a branch, all of them or none. The first one makes the session.
   *
   * @throws SessionConflictError if the head is not the expected one.
   * @throws SessionSerializationError if a draft does not fit to what is there.
   */
  append(
    sessionId: string,
    agentId: string | null,
    drafts: readonly SessionRecordDraft[],
    options?: AppendOptions,
  ): Promise<readonly SessionRecord[]>;
  /** All records in the order of their revision; empty if there is no such session. */
  records(sessionId: string): Promise<readonly SessionRecord[]>;
  /** What a branch adds up to; null if there is no such session or branch. Needs no lock. */
  load(sessionId: string, options?: BranchOptions): Promise<StoredSession | null>;
  /** As `load`, at a branch's head or at any record. @throws SessionError for an unknown record. */
  checkout(
    sessionId: string,
    options?: BranchOptions & { readonly recordId?: string },
  ): Promise<SessionCheckout | null>;
  head(sessionId: string, options?: BranchOptions): Promise<SessionRecord | null>;
  /** In the order of their creation. */
  listBranches(sessionId: string): Promise<readonly SessionBranch[]>;
  /** Newest first. Sessions whose first record cannot be read are left out, with a warning. */
  listSessions(): Promise<readonly SessionListing[]>;
  /** A branch that goes on from a record outside of a run. @throws SessionError if that is not possible. */
  fork(sessionId: string, options?: ForkOptions): Promise<SessionCheckout>;
  /** As `fork`, from an earlier record. The source stays as it is. */
  rollback(sessionId: string, options: RollbackOptions): Promise<SessionCheckout>;
  /** A branch that begins before a run. Runs nothing: what its tools did is done. Not for runs that continued. */
  prepareRetry(sessionId: string, options: RetryOptions): Promise<SessionRetry>;
  /**
   * Closes a run whose process ended: calls without a result get `outcome_unknown`, the run ends `external_abort`.
   *
   * @returns null if no run is unfinished.
   * @throws SessionLockTimeoutError if the run is alive.
   */
  abandon(sessionId: string, options?: AbandonOptions): Promise<AbandonedRun | null>;
  /** Keeps the records before the first broken one and puts the rest into a file beside. */
  repair(sessionId: string): Promise<RepairReport>;
  /** Claims a branch for one run, against this process and others. @throws SessionLockTimeoutError */
  lockRun(sessionId: string, options?: RunLockOptions): Promise<SessionRunLock>;
  /** Appends a whole session to `main` as a checkpoint, which replaces what was there; for imports. */
  save(session: StoredSession): Promise<SessionRecord>;
  /** Gives files and locks free. Idempotent. */
  close(): Promise<void>;
}
