import { withoutControls } from '../child/plain-text.js';
import { TooMuchGarbageError } from './wire-errors.js';

/**
 * Why a line is no message: `no_json`; `batch`, a JSON array, which ACP does not have; `no_message`, other JSON;
 * `unasked_answer`, to a request that was never made or has its answer.
 */
export type GarbageKind = 'no_json' | 'batch' | 'no_message' | 'unasked_answer';

export interface GarbageLine {
  readonly kind: GarbageKind;
  /** Its beginning, without anything that steers a terminal. */
  readonly text: string;
  /** The how manieth it is, from 1. */
  readonly count: number;
}

export interface GarbageCountOptions {
  readonly maxGarbageLines: number;
  /** The first few only. */
  readonly onGarbage?: ((line: GarbageLine) => void) | undefined;
  readonly safeText?: ((text: string) => string) | undefined;
}

/** So many are told; the rest is only counted. */
const TOLD_LINES = 5;
const TOLD_CHARS = 200;

/** Counts the lines of a child that are no messages. */
export class GarbageCount {
  #lines = 0;
  #sinceReset = 0;

  constructor(private readonly options: GarbageCountOptions) {}

  /** In all. */
  get lines(): number {
    return this.#lines;
  }

  /** Counts from 0 again to where it is too much; the total stays. */
  reset(): void {
    this.#sinceReset = 0;
  }

  /** @throws TooMuchGarbageError */
  add(kind: GarbageKind, line: string): void {
    const { maxGarbageLines, onGarbage, safeText = (text: string) => text } = this.options;
    this.#lines += 1;
    this.#sinceReset += 1;
    if (this.#lines <= TOLD_LINES && onGarbage !== undefined) {
      onGarbage({
        kind,
        text: beginning(safeText(withoutControls(line.slice(0, 10 * TOLD_CHARS)))),
        count: this.#lines,
      });
    }
    if (this.#sinceReset > maxGarbageLines) throw new TooMuchGarbageError(this.#sinceReset);
  }
}

function beginning(text: string): string {
  const line = text.replace(/\s+/gu, ' ');
  return line.length <= TOLD_CHARS ? line : `${line.slice(0, TOLD_CHARS).toWellFormed()}…`;
}
