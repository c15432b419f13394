import { fdatasync, fsync, ftruncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { HarnessLogger } from '../logger.js';
import { syncFolder, writeNewFile } from './durable-files.js';
import type { JournalFile } from './journal-file.js';
import { EMPTY_SCAN, type ScanState } from './journal-scan.js';
import { recordToLine } from './record-codec.js';
import { SessionSerializationError, SessionStorageError } from './session-errors.js';
import type { RepairReport } from './session-storage.js';
import type { SessionRecord } from './session-types.js';
import { storageError } from './storage-error.js';

const syncData = promisify(fdatasync);
const syncAll = promisify(fsync);

export interface JournalWriterOptions {
  readonly fsync: boolean;
  readonly logger: HarnessLogger;
  readonly newId: () => string;
}

/** Changes journal files. Every method is called under the file's lock, right after `refresh`. */
export class JournalWriter {
  constructor(private readonly options: JournalWriterOptions) {}

  /**
   * Adds records with a single write. When this rejects, none of them is there.
   *
   * @throws SessionStorageError, or SessionSerializationError for records that do not fit.
   */
  async append(file: JournalFile, records: readonly SessionRecord[]): Promise<void> {
    if (records.length === 0) return;
    const lines = records.map((record) => Buffer.from(`${recordToLine(record)}\n`));
    try {
      for (const record of records) file.index.add(record);
      await this.#write(file, lines);
    } catch (error) {
      // The index holds records that the file does not.
      file.reset();
      throw storageError('the session cannot be written', error);
    }
  }

  /** Keeps the records before the first that is broken, and puts the rest into a file beside. */
  async repair(file: JournalFile, sessionId: string): Promise<RepairReport> {
    const problem = await findProblem(file);
    if (problem === null) {
      const keptRecords = file.index.records.length;
      return { sessionId, keptRecords, problem: null, setAsideBytes: 0, setAsidePath: null };
    }
    try {
      const bytes = await file.bytes(problem.offset);
      const setAsidePath = await this.#setAside(file, bytes);
      const fd = file.openForWriting();
      ftruncateSync(fd, problem.offset);
      await syncAll(fd);
      file.reset();
      await file.refresh(true);
      const keptRecords = file.index.records.length;
      return { sessionId, keptRecords, problem: problem.text, setAsideBytes: bytes.length, setAsidePath };
    } catch (error) {
      file.reset();
      throw storageError('the session cannot be repaired', error);
    }
  }

  async #write(file: JournalFile, lines: readonly Buffer[]): Promise<void> {
    // Also one that was made by somebody who died before its name was durable.
    const isNew = file.size === 0;
    const fd = file.openForWriting();
    await this.#cutTail(file, fd, file.index.records.length > lines.length);
    const { scan } = file;
    // A last line without its newline gets it first, in the same write.
    const prefix = scan.endsWithNewline ? '' : '\n';
    const bytes = Buffer.concat([Buffer.from(prefix), ...lines]);
    try {
      const written = writeSync(fd, bytes);
      if (written !== bytes.length) {
        throw new SessionStorageError(`the disk took ${written} of ${bytes.length} bytes`);
      }
      if (this.options.fsync) await this.#makeDurable(file, fd, isNew);
    } catch (error) {
      takeBack(fd, scan.validLength);
      throw error;
    }
    file.advance(nextScan(scan, bytes.length, lines));
  }

  async #makeDurable(file: JournalFile, fd: number, isNew: boolean): Promise<void> {
    if (!isNew) return syncData(fd);
    await syncAll(fd);
    await syncFolder(dirname(file.path));
  }

  /** What a crash left of a record that nobody was told of. Where it is all there is, it is kept for looking at. */
  async #cutTail(file: JournalFile, fd: number, hadRecords: boolean): Promise<void> {
    const { validLength } = file.scan;
    if (file.size <= validLength) return;
    const details = { file: file.name, offset: validLength, bytes: file.size - validLength };
    if (!hadRecords) {
      const path = await this.#setAside(file, await file.bytes(0));
      ftruncateSync(fd, 0);
      file.advance(EMPTY_SCAN);
      this.options.logger.warn('the first record of a session was torn: set aside, starting over', {
        ...details,
        path,
      });
      return;
    }
    ftruncateSync(fd, validLength);
    this.options.logger.warn('the last record of a session was torn: cut off', details);
  }

  async #setAside(file: JournalFile, bytes: Buffer): Promise<string> {
    const path = `${file.path}.aside-${this.options.newId().slice(0, 12)}`;
    await writeNewFile(path, bytes);
    return path;
  }
}

interface Problem {
  readonly text: string;
  readonly offset: number;
}

/** Reads the file from its beginning; the index then holds what comes before the problem. */
async function findProblem(file: JournalFile): Promise<Problem | null> {
  try {
    await file.refresh(true);
  } catch (error) {
    if (!(error instanceof SessionSerializationError) || error.position === undefined) throw error;
    return { text: error.message, offset: error.position.offset };
  }
  const { validLength } = file.scan;
  return file.size > validLength ? { text: 'the last line is torn', offset: validLength } : null;
}

function takeBack(fd: number, size: number): void {
  try {
    ftruncateSync(fd, size);
  } catch {
    // Then a torn tail is left, which the next write cuts off.
  }
}

function nextScan(scan: ScanState, byteCount: number, lines: readonly Buffer[]): ScanState {
  const validLength = scan.validLength + byteCount;
  return {
    validLength,
    lineCount: scan.lineCount + lines.length,
    endsWithNewline: true,
    lastLineOffset: validLength - (lines.at(-1)?.length ?? 0),
  };
}
