import { neutralise } from './neutralise.js';
import { wrapLine } from './text-width.js';

const TAB = '    ';
/** Half a surrogate pair, or a carriage return that may be half a line end, or the beginning of a colour. */
const UNDECIDED = /[\ud800-\udbff\r]$|\u001b(?:\[[0-9;:]{0,16})?$/;

/** Text that comes in pieces, as rows: those that are full, and the last one, which still grows. */
export class StreamText {
  #held = '';
  #tail = '';

  /** The row that still grows. */
  get tail(): string {
    return this.#tail;
  }

  /** Adds a piece. @returns the rows that will not change any more. */
  push(delta: string, width: number): string[] {
    const whole = this.#held + delta;
    this.#held = UNDECIDED.exec(whole)?.[0] ?? '';
    return this.#grow(neutralise(whole.slice(0, whole.length - this.#held.length)), width);
  }

  /** No more comes. @returns the rows that are left, none if the last one is empty. */
  end(width: number): string[] {
    const rows = this.#grow(neutralise(this.#held), width);
    const last = this.#tail.trimEnd();
    this.#held = '';
    this.#tail = '';
    return last === '' ? rows : [...rows, last];
  }

  #grow(safe: string, width: number): string[] {
    const lines = (this.#tail + safe.replaceAll('\t', TAB)).split('\n');
    const last = wrapLine(lines.pop() ?? '', width);
    this.#tail = last.pop() ?? '';
    return [...lines.flatMap((line) => wrapLine(line, width)), ...last].map((row) => row.trimEnd());
  }
}
