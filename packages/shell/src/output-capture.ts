import { ByteRing } from './byte-ring.js';
import { withoutCutCharacter, withoutCutStart } from './utf8-cut.js';

export interface CapturedOutput {
  /** Bytes that are no UTF-8 are U+FFFD. */
  readonly text: string;
  /** How many bytes in the middle are missing. */
  readonly omittedBytes: number;
}

/** Keeps the beginning and the end of an output of any length, in bounded memory, which it takes only as it needs it. */
export class OutputCapture {
  readonly #headBytes: number;
  readonly #head: ByteRing;
  readonly #tail: ByteRing;

  constructor(maxBytes: number) {
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#head = new ByteRing(this.#headBytes);
    this.#tail = new ByteRing(maxBytes - this.#headBytes);
  }

  /** How many were written in all. */
  get totalBytes(): number {
    return this.#head.addedBytes + this.#tail.addedBytes;
  }

  add(chunk: Buffer): void {
    const forHead = Math.min(chunk.length, this.#headBytes - this.#head.addedBytes);
    if (forHead > 0) this.#head.add(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.#tail.add(chunk.subarray(forHead));
  }

  result(): CapturedOutput {
    const head = this.#head.content();
    const tail = this.#tail.content();
    const omittedBytes = this.#tail.addedBytes - tail.length;
    if (omittedBytes === 0) return { text: decode(Buffer.concat([head, tail])), omittedBytes };
    // Characters that the gap cuts in two are left out with it.
    const wholeHead = withoutCutCharacter(head);
    const wholeTail = withoutCutStart(tail);
    const cut = head.length - wholeHead.length + tail.length - wholeTail.length;
    const gap = `\n… ${omittedBytes + cut} bytes left out …\n`;
    return { text: decode(wholeHead) + gap + decode(wholeTail), omittedBytes: omittedBytes + cut };
  }
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
