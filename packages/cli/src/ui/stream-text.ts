import { SafeStream } from './safe-stream.js';
import { wrapLine } from './text-width.js';

const TAB = '    ';

/** Text that comes in pieces, as rows: those that are full, and the last one, which still grows. */
export class StreamText {
  readonly #safe = new SafeStream();
  #tail = '';

  /** The row that still grows. */
  get tail(): string {
    return this.#tail;
  }

  /** Adds a piece. @returns the rows that will not change any more. */
  push(delta: string, width: number): string[] {
    return this.#grow(this.#safe.push(delta), width);
  }

  /** No more comes. @returns the rows that are left, none if the last one is empty. */
  end(width: number): string[] {
    const rows = this.#grow(this.#safe.end(), width);
    const last = this.#tail.trimEnd();
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
