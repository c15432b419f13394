import type { FileHandle } from 'node:fs/promises';
import { withoutCutCharacter } from '@parley/shell';
import { looksBinary } from './text-content.js';

const CHUNK_BYTES = 65_536;

/** Lines are counted so far; the number of lines of a longer file stays unknown. */
const MAX_SCANNED_BYTES = 64 * 1_048_576;

export interface LineWindow {
  /** The first line wanted, from 1. */
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes: number;
}

export interface LinesRead {
  readonly binary: boolean;
  readonly content: Buffer;
  /** Lines that `content` has a part of. */
  readonly lineCount: number;
  /** Undefined if the file is too long to be counted. */
  readonly totalLines: number | undefined;
  /** The last line of `content` is not complete. */
  readonly cut: boolean;
}

/** Reads some lines of a file and counts all of them, a chunk at a time. */
export async function readLines(handle: FileHandle, window: LineWindow, signal: AbortSignal): Promise<LinesRead> {
  const reader = new LineReader(window);
  for (let scanned = 0; scanned < MAX_SCANNED_BYTES;) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return reader.result(true);
    const chunk = buffer.subarray(0, bytesRead);
    if (scanned === 0 && looksBinary(chunk)) return { ...reader.result(true), binary: true };
    reader.add(chunk);
    scanned += bytesRead;
  }
  return reader.result(false);
}

class LineReader {
  readonly #parts: Buffer[] = [];
  readonly #end: number;
  #collected = 0;
  /** The line that the next byte belongs to. */
  #line = 1;
  #lastLine = 0;
  #cut = false;
  #atLineStart = true;

  constructor(private readonly window: LineWindow) {
    this.#end = window.offset + window.limit;
  }

  add(chunk: Buffer): void {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(10, start);
      const end = newline < 0 ? chunk.length : newline + 1;
      this.#collect(chunk.subarray(start, end));
      this.#atLineStart = newline >= 0;
      if (newline >= 0) this.#line += 1;
      start = end;
    }
  }

  result(complete: boolean): LinesRead {
    const content = Buffer.concat(this.#parts);
    return {
      binary: false,
      content: this.#cut ? withoutCutCharacter(content) : content,
      lineCount: this.#lastLine === 0 ? 0 : this.#lastLine - this.window.offset + 1,
      totalLines: complete ? this.#line - (this.#atLineStart ? 1 : 0) : undefined,
      cut: this.#cut,
    };
  }

  #collect(part: Buffer): void {
    if (this.#cut || this.#line < this.window.offset || this.#line >= this.#end) return;
    const left = this.window.maxBytes - this.#collected;
    if (part.length > left) {
      this.#cut = true;
      // A line of which nothing fits is left for the next call.
      if (left === 0 && this.#lastLine !== this.#line) return;
    }
    const kept = part.subarray(0, left);
    this.#parts.push(kept);
    this.#collected += kept.length;
    this.#lastLine = this.#line;
  }
}
