import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { FileLock } from './file-lock.js';
import { JournalFile } from './journal-file.js';
import type { JournalIndex } from './journal-index.js';
import { placeRecords, type JournalPlan } from './journal-plan.js';
import type { JournalStore, LockWait } from './journal-store.js';
import { JournalWriter, type JournalWriterOptions } from './journal-writer.js';
import { listJournals } from './journal-listing.js';
import { Mutex } from './mutex.js';
import { SessionError, SessionSerializationError } from './session-errors.js';
import type { RepairReport, SessionListing, SessionRunLock } from './session-storage.js';
import type { SessionRecord } from './session-types.js';

export interface JsonlJournalStoreOptions extends JournalWriterOptions {
  readonly lockWaitMs: number;
  readonly maxOpenSessions: number;
}

/** A journal that is in use or was not long ago. */
interface OpenJournal {
  readonly file: JournalFile;
  /** Against other processes and other storages. */
  readonly lock: FileLock;
  /** Among the calls on this storage: nobody reads what is not durable yet. Held for the length of one write. */
  readonly mutex: Mutex;
  users: number;
}

const FILE_TURN_MS = 60_000;

export class JsonlJournalStore implements JournalStore {
  /** The one used last comes last. */
  readonly #open = new Map<string, OpenJournal>();
  readonly #runLocks = new Set<SessionRunLock>();
  readonly #writer: JournalWriter;
  #closed = false;

  constructor(
    private readonly root: string,
    private readonly options: JsonlJournalStoreOptions,
  ) {
    this.#writer = new JournalWriter(options);
  }

  read(sessionId: string): Promise<JournalIndex> {
    return this.#use(sessionId, async (journal) => {
      try {
        await this.#inTurn(journal, () => journal.file.refresh(false));
      } catch (error) {
        // Read while somebody wrote and took it back, it may look broken; under the lock it does not.
        if (!(error instanceof SessionSerializationError)) throw error;
        await this.#refreshLocked(journal, error);
      }
      return journal.file.index;
    });
  }

  write(
    sessionId: string,
    plan: (index: JournalIndex) => JournalPlan,
    signal?: AbortSignal,
  ): Promise<{ readonly records: readonly SessionRecord[]; readonly index: JournalIndex }> {
    return this.#locked(sessionId, signal, async (journal) => {
      const { file } = journal;
      await file.refresh(true);
      const records = placeRecords(file.index, plan(file.index), this.options.newId);
      await this.#writer.append(file, records);
      return { records, index: file.index };
    });
  }

  list(): Promise<readonly SessionListing[]> {
    this.#refuseIfClosed();
    return listJournals(this.root, this.options.logger);
  }

  repair(sessionId: string): Promise<RepairReport> {
    return this.#locked(sessionId, undefined, ({ file }) => this.#writer.repair(file, sessionId));
  }

  async lockRun(sessionId: string, branchId: string, wait: LockWait): Promise<SessionRunLock> {
    this.#refuseIfClosed();
    const lock = new FileLock(`${this.#pathOf(sessionId)}.run-${sha256(branchId).slice(0, 16)}.lock`, true);
    await lock.acquire({ signal: wait.signal, waitMs: wait.waitMs ?? this.options.lockWaitMs });
    if (this.#closed) lock.release();
    this.#refuseIfClosed();
    const release = () => {
      if (this.#runLocks.delete(held)) lock.release();
    };
    const held: SessionRunLock = { sessionId, branchId, release };
    this.#runLocks.add(held);
    return held;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const lock of this.#runLocks) lock.release();
    // Those in use are closed by their last user.
    for (const [sessionId, journal] of this.#open) if (journal.users === 0) this.#drop(sessionId, journal);
    return Promise.resolve();
  }

  async #locked<Value>(
    sessionId: string,
    signal: AbortSignal | undefined,
    work: (journal: OpenJournal) => Promise<Value>,
  ): Promise<Value> {
    return this.#use(sessionId, async (journal) => {
      await journal.lock.acquire({ signal, waitMs: this.options.lockWaitMs });
      try {
        return await this.#inTurn(journal, () => work(journal));
      } finally {
        journal.lock.release();
      }
    });
  }

  async #refreshLocked(journal: OpenJournal, broken: SessionSerializationError): Promise<void> {
    try {
      await journal.lock.acquire({ waitMs: this.options.lockWaitMs });
    } catch {
      throw broken;
    }
    try {
      await this.#inTurn(journal, () => journal.file.refresh(true));
    } finally {
      journal.lock.release();
    }
  }

  async #inTurn<Value>(journal: OpenJournal, work: () => Promise<Value>): Promise<Value> {
    await journal.mutex.acquire({ waitMs: FILE_TURN_MS });
    try {
      return await work();
    } finally {
      journal.mutex.release();
    }
  }

  async #use<Value>(sessionId: string, work: (journal: OpenJournal) => Promise<Value>): Promise<Value> {
    this.#refuseIfClosed();
    const journal = this.#open.get(sessionId) ?? this.#opened(sessionId);
    this.#open.delete(sessionId);
    this.#open.set(sessionId, journal);
    journal.users += 1;
    try {
      return await work(journal);
    } finally {
      journal.users -= 1;
      this.#dropSurplus();
    }
  }

  #opened(sessionId: string): OpenJournal {
    const path = this.#pathOf(sessionId);
    return { file: new JournalFile(path, sessionId), lock: new FileLock(`${path}.lock`), mutex: new Mutex(), users: 0 };
  }

  #dropSurplus(): void {
    if (this.#closed) {
      void this.close();
      return;
    }
    let surplus = this.#open.size - this.options.maxOpenSessions;
    for (const [sessionId, journal] of this.#open) {
      if (surplus <= 0) return;
      if (journal.users > 0) continue;
      this.#drop(sessionId, journal);
      surplus -= 1;
    }
  }

  #drop(sessionId: string, journal: OpenJournal): void {
    this.#open.delete(sessionId);
    journal.file.close();
    journal.lock.close();
  }

  #pathOf(sessionId: string): string {
    return join(this.root, `${sha256(sessionId)}.jsonl`);
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw new SessionError('session_storage_closed', 'the session storage is closed');
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
