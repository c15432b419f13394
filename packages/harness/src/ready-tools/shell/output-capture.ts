import { withoutCutCharacter, withoutCutStart } from '../files/text-content.js';

export interface CapturedOutput {
  /** Bytes that are no UTF-8 are U+FFFD. */
  readonly text: string;
  /** How many bytes in the middle are missing. */
  readonly omittedBytes: number;
}

/** Keeps the beginning and the end of an output of any length, in bounded memory. */
export class OutputCapture {
  readonly #head: Buffer;
  /** A ring: the next byte goes to `#tailAt`. */
  readonly #tail: Buffer;
  #headLength = 0;
  #tailAt = 0;
  #tailBytes = 0;

  constructor(maxBytes: number) {
    const headBytes = Math.ceil(maxBytes / 2);
    this.#head = Buffer.allocUnsafe(headBytes);
    this.#tail = Buffer.allocUnsafe(maxBytes - headBytes);
  }

  add(chunk: Buffer): void {
    const forHead = Math.min(chunk.length, this.#head.length - this.#headLength);
    chunk.copy(this.#head, this.#headLength, 0, forHead);
    this.#headLength += forHead;
    this.#addToTail(chunk.subarray(forHead));
  }

  result(): CapturedOutput {
    const head = this.#head.subarray(0, this.#headLength);
    const kept = Math.min(this.#tailBytes, this.#tail.length);
    const omittedBytes = this.#tailBytes - kept;
    const tail = this.#tailInOrder(kept);
    if (omittedBytes === 0) return { text: decode(Buffer.concat([head, tail])), omittedBytes };
    // Characters that the gap cuts in two are left out with it.
    const wholeHead = withoutCutCharacter(head);
    const wholeTail = withoutCutStart(tail);
    const cut = head.length - wholeHead.length + tail.length - wholeTail.length;
    const gap = `\n… ${omittedBytes + cut} bytes left out …\n`;
    return { text: decode(wholeHead) + gap + decode(wholeTail), omittedBytes: omittedBytes + cut };
  }

  #addToTail(chunk: Buffer): void {
    this.#tailBytes += chunk.length;
    const size = this.#tail.length;
    if (size === 0) return;
    const rest = chunk.length > size ? chunk.subarray(chunk.length - size) : chunk;
    const first = Math.min(rest.length, size - this.#tailAt);
    rest.copy(this.#tail, this.#tailAt, 0, first);
    rest.copy(this.#tail, 0, first);
    this.#tailAt = (this.#tailAt + rest.length) % size;
  }

  #tailInOrder(kept: number): Buffer {
    if (kept < this.#tail.length) return this.#tail.subarray(0, kept);
    return Buffer.concat([this.#tail.subarray(this.#tailAt), this.#tail.subarray(0, this.#tailAt)]);
  }
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
