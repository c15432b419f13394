import { resolve } from 'node:path';
import { quietLogger, type HarnessLogger } from '../logger.js';
import { JournalSessionStorage } from './journal-session-storage.js';
import { JsonlJournalStore } from './jsonl-journal-store.js';
import { newRecordId } from './memory-session-storage.js';

export interface JsonlSessionStorageOptions {
  /** How long a lock is waited for, in milliseconds. Default 10,000. */
  readonly lockWaitMs?: number;
  /**
   * Whether each record is on the disk before `append` resolves. Default true; without it a power cut, though not the
   * end of the process, can take the newest records.
   */
  readonly fsync?: boolean;
  /** Sessions whose file stays open between calls. Default 128. */
  readonly maxOpenSessions?: number;
  /** Told of torn records that were cut off. */
  readonly logger?: HarnessLogger;
  /** 32 hexadecimal digits, new each time. */
  readonly newId?: () => string;
}

/**
 * Keeps each session in a file of JSON lines, named by the SHA-256 of its id, readable by its owner only. Several
 * processes may use a folder at once, on a local file system. Reading takes no lock.
 */
export class JsonlSessionStorage extends JournalSessionStorage {
  constructor(root: string, options: JsonlSessionStorageOptions = {}) {
    const { lockWaitMs = 10_000, fsync = true, maxOpenSessions = 128 } = options;
    const { logger = quietLogger, newId = newRecordId } = options;
    super(new JsonlJournalStore(resolve(root), { lockWaitMs, fsync, maxOpenSessions, logger, newId }), newId);
  }
}
