import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { writeAll, type FileLayer } from './file-layer.js';
import type { FolderSync } from './folder-sync.js';
import { lengthOfWholeLines } from './whole-lines.js';

interface Append {
  readonly line: Buffer;
  resolve(): void;
  reject(error: unknown): void;
}

export interface StreamFileOptions {
  readonly path: string;
  readonly files: FileLayer;
  readonly folder: FolderSync;
  /** Bytes that may wait to be written. */
  readonly maxWaitingBytes: number;
}

const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT;

/**
 * A file of lines that are there to stay once an append has resolved. What comes while a write is under way is written
 * next, together: one write and one sync, however many there are. A write that fails is cut off again, so that the file
 * ends with the last line that somebody was told of.
 */
export class StreamFile {
  readonly #options: StreamFileOptions;
  #file: FileHandle | undefined;
  #length = 0;
  /** There may be bytes after `#length`. */
  #isDirty = false;
  /** Its name may not be in the folder yet after a power cut. */
  #isNew = false;
  #waiting: Append[] = [];
  #waitingBytes = 0;
  #work: Promise<void> | undefined;
  #task: (() => Promise<void>) | undefined;

  constructor(options: StreamFileOptions) {
    this.#options = options;
  }

  /** Bytes of whole lines, as of the last write. */
  get length(): number {
    return this.#length;
  }

  /** True if nothing is lost when it is closed and forgotten. */
  get isIdle(): boolean {
    return this.#work === undefined && !this.#isDirty;
  }

  append(line: Buffer): Promise<void> {
    if (this.#waitingBytes + line.length > this.#options.maxWaitingBytes && this.#waiting.length > 0) {
      return Promise.reject(new Error('too much waits to be written to the journal'));
    }
    this.#waitingBytes += line.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#start();
    });
  }

  /** Runs a task that has the file, closed, to itself; it never rejects. Appends wait meanwhile. */
  runAlone(task: () => Promise<void>): void {
    this.#task = task;
    this.#start();
  }

  /** Resolves when everything is written. */
  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  async close(): Promise<void> {
    await this.settled();
    await this.#closeFile();
  }

  #start(): void {
    this.#work ??= this.#run();
  }

  async #run(): Promise<void> {
    // Whatever is appended in the same breath is written together.
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#task !== undefined) {
      await this.#runTask();
      await this.#writeWaiting();
    }
    // In the same breath as the look above: what is appended after it must start anew.
    this.#work = undefined;
  }

  async #runTask(): Promise<void> {
    const task = this.#task;
    if (task === undefined) return;
    this.#task = undefined;
    await this.#closeFile();
    await task();
  }

  async #writeWaiting(): Promise<void> {
    const round = this.#waiting;
    if (round.length === 0) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      await this.#write(
        round.length === 1 && round[0] !== undefined ? round[0].line : Buffer.concat(round.map(({ line }) => line)),
      );
    } catch (error) {
      await this.#cutBack();
      for (const append of round) append.reject(error);
      return;
    }
    for (const append of round) append.resolve();
  }

  async #write(bytes: Buffer): Promise<void> {
    const file = await this.#open();
    if (this.#isDirty) await this.#truncate(file);
    this.#isDirty = true;
    await writeAll(file, bytes, this.#length);
    await file.datasync();
    if (this.#isNew) await this.#options.folder.sync();
    this.#isNew = false;
    this.#length += bytes.length;
    this.#isDirty = false;
  }

  async #open(): Promise<FileHandle> {
    if (this.#file !== undefined) return this.#file;
    const file = await this.#options.files.open(this.#options.path, OPEN_FLAGS, 0o600);
    try {
      const { size } = await file.stat();
      // After a failed cut the length is known better than the file's.
      if (!this.#isDirty) this.#length = await lengthOfWholeLines(file, size);
      if (this.#length !== size) this.#isDirty = true;
      this.#isNew ||= size === 0;
    } catch (error) {
      await file.close();
      throw error;
    }
    this.#file = file;
    return file;
  }

  /** If this fails too, the next write begins with it. */
  async #cutBack(): Promise<void> {
    if (!this.#isDirty || this.#file === undefined) return;
    try {
      await this.#truncate(this.#file);
    } catch {
      await this.#closeFile();
    }
  }

  async #truncate(file: FileHandle): Promise<void> {
    await file.truncate(this.#length);
    await file.datasync();
    this.#isDirty = false;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // Everything was synced, so that nothing can be lost by a close that fails.
    await file?.close().catch(() => undefined);
  }
}
