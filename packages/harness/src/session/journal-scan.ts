import { isUtf8 } from 'node:buffer';
import type { JournalIndex } from './journal-index.js';
import { recordFromJson } from './record-codec.js';
import { SessionSerializationError } from './session-errors.js';

const NEWLINE = 0x0a;

/** Up to where a journal file was read, and what the index made of it holds. */
export interface ScanState {
  /** Bytes that are whole and good lines; what comes after them is a torn tail. */
  readonly validLength: number;
  /** Lines begun within them. */
  readonly lineCount: number;
  /** False if the last line lacks only its newline. */
  readonly endsWithNewline: boolean;
  /** Where the newest record's line begins. */
  readonly lastLineOffset: number;
}

export const EMPTY_SCAN: ScanState = { validLength: 0, lineCount: 0, endsWithNewline: true, lastLineOffset: 0 };

/**
 * Adds the records in `bytes`, which come right after what was read before, to the index. A tail that is no whole line
 * is left out: it is what a crash leaves of a write that nobody was told of.
 *
 * @throws SessionSerializationError with the position of the first line that is broken or does not fit.
 */
export function scanLines(index: JournalIndex, bytes: Buffer, from: ScanState, file: string): ScanState {
  let state = from;
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const isWhole = newline !== -1;
    const end = isWhole ? newline : bytes.length;
    const offset = from.validLength + start;
    // The rest of a line whose newline came later belongs to that line.
    const line = state.endsWithNewline ? state.lineCount + 1 : state.lineCount;
    const added = addLine(index, bytes.subarray(start, end), isWhole, { file, line, offset });
    if (!isWhole && !added) return state;
    start = isWhole ? end + 1 : end;
    state = {
      validLength: from.validLength + start,
      lineCount: line,
      endsWithNewline: isWhole,
      lastLineOffset: added ? offset : state.lastLineOffset,
    };
  }
  return state;
}

/** @returns Whether the line held a record. */
function addLine(
  index: JournalIndex,
  line: Buffer,
  isWhole: boolean,
  position: { readonly file: string; readonly line: number; readonly offset: number },
): boolean {
  if (isBlank(line)) return false;
  try {
    const value = isWhole ? parse(line) : parseTail(line);
    if (value === undefined) return false;
    index.add(recordFromJson(value));
    return true;
  } catch (error) {
    if (!(error instanceof SessionSerializationError)) throw error;
    throw new SessionSerializationError(error.message, { cause: error, position });
  }
}

function parse(line: Buffer): unknown {
  // Decoding would silently put a replacement character where the bytes are no text.
  if (!isUtf8(line)) throw new SessionSerializationError('the line is not UTF-8');
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    // The parser's own text would quote what it read.
    throw new SessionSerializationError(line.includes(0) ? 'the line holds NUL bytes' : 'the line is no JSON');
  }
}

/** A record that lacks only its newline was written whole; anything else without one is torn. */
function parseTail(line: Buffer): unknown {
  try {
    const value = parse(line);
    return typeof value === 'object' && value !== null && 'journal_schema_version' in value ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBlank(line: Buffer): boolean {
  // Space, tab, carriage return.
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
