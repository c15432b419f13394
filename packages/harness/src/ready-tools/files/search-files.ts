import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RE2JS } from 're2js';
import { ReadyToolError } from '../ready-tool-error.js';
import type { WalkedEntry } from './walk-folder.js';
import { decodeUtf8, looksBinary } from './text-content.js';

const MAX_PATTERN_LENGTH = 1_000;
const MAX_PROGRAM_SIZE = 10_000;

/** Longer files are left out. */
const MAX_FILE_BYTES = 4 * 1_048_576;
const MAX_FILES = 50_000;

/** Only so much of a line is searched, less for large patterns: a match costs pattern size times length. */
const MAX_LINE_LENGTH = 10_000;
const MAX_LINE_COST = 10_000_000;

/** Lines are searched for so long without letting others run. */
const SLICE_MS = 10;
const LINES_PER_CHECK = 64;

/** What is shown of a line, and how much of it before the match. */
const SHOWN_LENGTH = 300;
const SHOWN_BEFORE = 100;

export interface SearchLimits {
  readonly maxResults: number;
  /** Milliseconds; what was found until then is the result. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface SearchResult {
  /** `path:line: text`. */
  readonly matches: readonly string[];
  readonly searchedFiles: number;
  /** Why there may be more; empty if everything was searched. */
  readonly incomplete: readonly string[];
}

/** @throws ReadyToolError for a pattern that RE2 cannot take. */
export function searchPattern(pattern: string): RE2JS {
  if (pattern === '') throw new ReadyToolError("'pattern' must not be empty");
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new ReadyToolError(`'pattern' must have at most ${MAX_PATTERN_LENGTH} characters`);
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    throw new ReadyToolError("'pattern' is not a regular expression in RE2 syntax (no lookarounds, no backreferences)");
  }
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw new ReadyToolError("'pattern' is too large");
  return compiled;
}

/** Searches files line by line. */
export class FileSearch {
  readonly #matches: string[] = [];
  readonly #incomplete = new Set<string>();
  readonly #lineLength: number;
  readonly #deadline: number;
  #files = 0;
  #sliceStart = performance.now();

  constructor(
    private readonly pattern: RE2JS,
    private readonly limits: SearchLimits,
  ) {
    this.#lineLength = Math.min(MAX_LINE_LENGTH, Math.ceil(MAX_LINE_COST / pattern.programSize()));
    this.#deadline = this.#sliceStart + limits.timeoutMs;
  }

  result(): SearchResult {
    return { matches: this.#matches, searchedFiles: this.#files, incomplete: [...this.#incomplete] };
  }

  markIncomplete(why: string): void {
    this.#incomplete.add(why);
  }

  /** Searches a file that a walk found. False if the search is over. */
  async addEntry(entry: WalkedEntry): Promise<boolean> {
    if (this.#isOver()) return false;
    // It may have become a link or a pipe since it was listed: neither followed nor waited for.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(entry.folder.at(entry.name), flags).catch(() => undefined);
    if (handle === undefined) return true;
    try {
      await entry.folder.verify();
      return await this.addFile(handle, entry.path);
    } finally {
      await handle.close();
    }
  }

  /** Searches an open file. False if the search is over. */
  async addFile(handle: FileHandle, path: string): Promise<boolean> {
    const stats = await handle.stat();
    if (!stats.isFile()) return true;
    if (stats.size > MAX_FILE_BYTES) {
      this.markIncomplete('large files were left out');
      return true;
    }
    // The file may grow while it is read.
    const content = Buffer.allocUnsafe(Math.min(stats.size, MAX_FILE_BYTES));
    const { bytesRead } = await handle.read(content, 0, content.length, 0);
    this.#files += 1;
    const bytes = content.subarray(0, bytesRead);
    return looksBinary(bytes) || this.#addLines(decodeUtf8(bytes).text, path);
  }

  async #addLines(text: string, path: string): Promise<boolean> {
    let number = 0;
    for (let start = 0; start < text.length;) {
      const newline = text.indexOf('\n', start);
      const end = newline < 0 ? text.length : newline;
      number += 1;
      if (!this.#addLine(text.slice(start, end).replace(/\r$/u, ''), number, path)) return false;
      if (number % LINES_PER_CHECK === 0 && !(await this.#pause())) return false;
      start = end + 1;
    }
    return this.#pause();
  }

  #addLine(line: string, number: number, path: string): boolean {
    const searched = line.length > this.#lineLength ? line.slice(0, this.#lineLength) : line;
    if (searched.length < line.length) this.markIncomplete('long lines were searched in part');
    if (!this.pattern.test(searched)) return true;
    if (this.#matches.length >= this.limits.maxResults) {
      this.markIncomplete('there are more matches');
      return false;
    }
    this.#matches.push(`${path}:${number}: ${this.#shown(searched)}`);
    return true;
  }

  #shown(line: string): string {
    if (line.length <= SHOWN_LENGTH) return line;
    const matcher = this.pattern.matcher(line);
    const start = matcher.find() ? Math.max(0, matcher.start() - SHOWN_BEFORE) : 0;
    const part = line.slice(start, start + SHOWN_LENGTH);
    return `${start > 0 ? '…' : ''}${part}${start + SHOWN_LENGTH < line.length ? '…' : ''}`;
  }

  async #pause(): Promise<boolean> {
    this.limits.signal.throwIfAborted();
    if (performance.now() - this.#sliceStart < SLICE_MS) return true;
    await nextTurn();
    this.#sliceStart = performance.now();
    return !this.#isOver();
  }

  #isOver(): boolean {
    this.limits.signal.throwIfAborted();
    if (performance.now() > this.#deadline) this.markIncomplete('the time for searching was over');
    else if (this.#files >= MAX_FILES) this.markIncomplete('there are too many files');
    else return false;
    return true;
  }
}
