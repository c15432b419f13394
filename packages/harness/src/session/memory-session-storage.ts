import { randomUUID } from 'node:crypto';
import { JournalIndex } from './journal-index.js';
import { placeRecords, type JournalPlan } from './journal-plan.js';
import { JournalSessionStorage } from './journal-session-storage.js';
import type { JournalStore, LockWait } from './journal-store.js';
import { Mutex } from './mutex.js';
import { recordToLine } from './record-codec.js';
import { SessionError } from './session-errors.js';
import type { RepairReport, SessionListing, SessionRunLock } from './session-storage.js';
import type { SessionRecord } from './session-types.js';

export interface MemorySessionStorageOptions {
  /** How long a lock is waited for, in milliseconds. Default 10,000. */
  readonly lockWaitMs?: number;
  /** 32 hexadecimal digits, new each time. */
  readonly newId?: () => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Keeps sessions in memory, by the same rules as the one that keeps them in files. For tests and short lives. */
export class MemorySessionStorage extends JournalSessionStorage {
  constructor(options: MemorySessionStorageOptions = {}) {
    const { lockWaitMs = 10_000, newId = newRecordId, now = Date.now } = options;
    super(new MemoryJournalStore(lockWaitMs, newId, now), newId);
  }
}

export function newRecordId(): string {
  return randomUUID().replaceAll('-', '');
}

interface StoredJournal {
  index: JournalIndex;
  modifiedMs: number;
}

class MemoryJournalStore implements JournalStore {
  readonly #journals = new Map<string, StoredJournal>();
  readonly #runLocks = new Set<SessionRunLock>();
  readonly #runMutexes = new Map<string, Mutex>();
  #closed = false;

  constructor(
    private readonly lockWaitMs: number,
    private readonly newId: () => string,
    private readonly now: () => number,
  ) {}

  read(sessionId: string): Promise<JournalIndex> {
    return this.#settle(() => this.#journals.get(sessionId)?.index ?? new JournalIndex(sessionId));
  }

  write(
    sessionId: string,
    plan: (index: JournalIndex) => JournalPlan,
    signal?: AbortSignal,
  ): Promise<{ readonly records: readonly SessionRecord[]; readonly index: JournalIndex }> {
    return this.#settle(() => {
      signal?.throwIfAborted();
      const journal = this.#journals.get(sessionId) ?? { index: new JournalIndex(sessionId), modifiedMs: 0 };
      const records = placeRecords(journal.index, plan(journal.index), this.newId);
      this.#add(journal, records);
      journal.modifiedMs = this.now();
      if (records.length > 0) this.#journals.set(sessionId, journal);
      return { records, index: journal.index };
    });
  }

  list(): Promise<readonly SessionListing[]> {
    return this.#settle(() =>
      [...this.#journals].map(([sessionId, { index, modifiedMs }]) => ({
        sessionId,
        agentId: index.agentId,
        modifiedMs,
      })),
    );
  }

  repair(sessionId: string): Promise<RepairReport> {
    return this.#settle(() => ({
      sessionId,
      keptRecords: this.#journals.get(sessionId)?.index.records.length ?? 0,
      problem: null,
      setAsideBytes: 0,
      setAsidePath: null,
    }));
  }

  async lockRun(sessionId: string, branchId: string, wait: LockWait): Promise<SessionRunLock> {
    this.#refuseIfClosed();
    const key = JSON.stringify([sessionId, branchId]);
    const mutex = this.#runMutexes.get(key) ?? new Mutex();
    this.#runMutexes.set(key, mutex);
    await mutex.acquire({ signal: wait.signal, waitMs: wait.waitMs ?? this.lockWaitMs });
    const release = () => {
      if (!this.#runLocks.delete(held)) return;
      mutex.release();
      if (mutex.idle) this.#runMutexes.delete(key);
    };
    const held: SessionRunLock = { sessionId, branchId, release };
    this.#runLocks.add(held);
    if (this.#closed) release();
    this.#refuseIfClosed();
    return held;
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const lock of this.#runLocks) lock.release();
    return Promise.resolve();
  }

  #add(journal: StoredJournal, records: readonly SessionRecord[]): void {
    const before = journal.index.records.slice();
    try {
      for (const record of records) {
        // What could not be written to a file is refused here too.
        recordToLine(record);
        journal.index.add(record);
      }
    } catch (error) {
      journal.index = new JournalIndex(journal.index.sessionId, before);
      throw error;
    }
  }

  #settle<Value>(work: () => Value): Promise<Value> {
    return new Promise((resolve) => {
      this.#refuseIfClosed();
      resolve(work());
    });
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new SessionError('session_storage_closed', 'the session storage is closed');
  }
}
