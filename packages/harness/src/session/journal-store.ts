import type { JournalIndex } from './journal-index.js';
import type { JournalPlan } from './journal-plan.js';
import type { RepairReport, SessionListing, SessionRunLock } from './session-storage.js';
import type { SessionRecord } from './session-types.js';

export interface LockWait {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; undefined for the store's own default. */
  readonly waitMs?: number | undefined;
}

/** Where journals are kept. What they mean, branches and runs, is not its business. */
export interface JournalStore {
  /** What is there now. The index belongs to the store: read it at once, keep nothing of it. */
  read(sessionId: string): Promise<JournalIndex>;
  /** Adds what `plan` makes of the newest state, all of it or nothing; nobody else writes meanwhile. */
  write(
    sessionId: string,
    plan: (index: JournalIndex) => JournalPlan,
    signal?: AbortSignal,
  ): Promise<{ readonly records: readonly SessionRecord[]; readonly index: JournalIndex }>;
  list(): Promise<readonly SessionListing[]>;
  repair(sessionId: string): Promise<RepairReport>;
  lockRun(sessionId: string, branchId: string, wait: LockWait): Promise<SessionRunLock>;
  close(): Promise<void>;
}
