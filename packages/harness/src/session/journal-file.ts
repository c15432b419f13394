import { closeSync, constants, fstatSync, openSync, read, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { isSameFile, type FileIdentity } from './file-identity.js';
import { JournalIndex } from './journal-index.js';
import { EMPTY_SCAN, scanLines, type ScanState } from './journal-scan.js';
import { SessionConflictError, SessionSerializationError } from './session-errors.js';
import { storageError } from './storage-error.js';

const readBytes = promisify(read);

/**
 * One journal file and what is in it. It is read once; later only what was added is. Times of the file are not trusted:
 * its size and identity tell whether it is still the one that was read.
 */
export class JournalFile {
  readonly name: string;
  #index: JournalIndex;
  #scan: ScanState = EMPTY_SCAN;
  #fd: number | null = null;
  #writable = false;
  #identity: FileIdentity | null = null;
  #size = 0;
  /** False if something was read without the lock: a writer may have taken it back since. */
  #verified = true;

  constructor(
    readonly path: string,
    private readonly sessionId: string,
  ) {
    this.name = basename(path);
    this.#index = new JournalIndex(sessionId);
  }

  get index(): JournalIndex {
    return this.#index;
  }

  get scan(): ScanState {
    return this.#scan;
  }

  /** In bytes, as of the last `refresh`. */
  get size(): number {
    return this.#size;
  }

  /**
   * Brings the index up to the file.
   *
   * @param locked Whether the caller keeps writers away.
   * @throws SessionSerializationError if the file is broken, SessionStorageError if it cannot be read.
   */
  async refresh(locked: boolean): Promise<void> {
    for (;;) {
      const mayBeStale = this.#look(locked);
      try {
        await this.#readNew(locked);
        return;
      } catch (error) {
        this.reset();
        // What does not fit to what was read before may fit to what is there now: once more from the beginning.
        if (!mayBeStale || !(error instanceof SessionSerializationError)) throw error;
      }
    }
  }

  /** The descriptor to write with; makes the file if there is none. To be called under the lock, after `refresh`. */
  openForWriting(): number {
    if (this.#fd !== null && this.#writable) return this.#fd;
    const fd = openSync(this.path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    const opened = fstatSync(fd);
    if (this.#identity !== null && !isSameFile(this.#identity, opened)) {
      closeSync(fd);
      throw new SessionConflictError('the session file was replaced while it was in use');
    }
    this.close();
    this.#fd = fd;
    this.#writable = true;
    this.#identity = opened;
    return fd;
  }

  /** To be told after a write under the lock, whose records are in the index already. */
  advance(scan: ScanState): void {
    this.#scan = scan;
    this.#size = scan.validLength;
  }

  /** Forgets what was read; the next `refresh` begins anew. */
  reset(): void {
    this.#index = new JournalIndex(this.sessionId);
    this.#scan = EMPTY_SCAN;
    this.#verified = true;
  }

  close(): void {
    if (this.#fd === null) return;
    closeSync(this.#fd);
    this.#fd = null;
    this.#writable = false;
  }

  /** The bytes from `from` to the end, as of the last `refresh`. */
  async bytes(from: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.max(this.#size - from, 0));
    let filled = 0;
    while (this.#fd !== null && filled < buffer.length) {
      const { bytesRead } = await readBytes(this.#fd, buffer, filled, buffer.length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  /** @returns Whether something that was read before is still relied on. */
  #look(locked: boolean): boolean {
    try {
      this.#findFile();
      const isGone = this.#size < this.#scan.validLength;
      if (isGone || (locked && !this.#verified && !this.#holdsNewestRecord())) this.reset();
      return this.#scan.validLength > 0;
    } catch (error) {
      this.reset();
      throw storageError('the session cannot be read', error);
    }
  }

  #findFile(): void {
    const named = statSync(this.path, { throwIfNoEntry: false });
    if (named !== undefined && this.#fd !== null && isSameFile(this.#identity, named)) {
      this.#size = named.size;
      return;
    }
    this.close();
    this.reset();
    this.#identity = null;
    this.#size = 0;
    if (named === undefined) return;
    this.#fd = openSync(this.path, 'r');
    const opened = fstatSync(this.#fd);
    this.#identity = opened;
    this.#size = opened.size;
  }

  async #readNew(locked: boolean): Promise<void> {
    if (this.#size > this.#scan.validLength) {
      const bytes = await this.#readTail();
      this.#scan = scanLines(this.#index, bytes, this.#scan, this.name);
      this.#verified = locked;
    }
    if (locked) this.#verified = true;
  }

  async #readTail(): Promise<Buffer> {
    try {
      return await this.bytes(this.#scan.validLength);
    } catch (error) {
      throw storageError('the session cannot be read', error);
    }
  }

  /** Ids are unique: where the newest record still is, everything before it is too. */
  #holdsNewestRecord(): boolean {
    const newest = this.#index.records.at(-1);
    if (newest === undefined || this.#fd === null) return true;
    const { lastLineOffset, validLength } = this.#scan;
    const line = Buffer.alloc(validLength - lastLineOffset);
    readSync(this.#fd, line, 0, line.length, lastLineOffset);
    return line.includes(newest.recordId);
  }
}
