import type { Readable } from 'node:stream';
import { ByteTail } from './byte-tail.js';
import type { HiddenValues } from './hidden-values.js';
import { withoutControls } from './plain-text.js';

/** Reads a child's errors to their end, so that it never waits for a reader, and keeps the last of them. */
export class StderrTail {
  readonly #tail: ByteTail;

  constructor(
    stderr: Readable,
    maxBytes: number,
    private readonly hidden: HiddenValues,
  ) {
    this.#tail = new ByteTail(maxBytes);
    stderr.on('data', (chunk: Buffer) => this.#tail.add(chunk));
  }

  /** Whole characters, nothing that steers a terminal, nothing of what the child was given. */
  get text(): string {
    const { text, isCut } = this.#tail.content();
    return withoutControls(this.hidden.hide(text, isCut)).trim();
  }
}
