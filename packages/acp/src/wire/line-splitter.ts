import { MessageTooLargeError } from './wire-errors.js';

const NEWLINE = 0x0a;

/** Splits bytes into lines. Chunks of an unfinished line are kept apart, so that a long line costs its length. */
export class LineSplitter {
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly maxLineBytes: number) {}

  /**
   * The lines that end in a chunk, without their ends. Must be read to its end before the next chunk.
   *
   * @throws MessageTooLargeError when all lines before the one that is too long were given.
   */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      yield this.#take();
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  /** What came after the last end of a line. */
  rest(): string {
    return this.#take();
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.maxLineBytes) {
      this.#parts = [];
      throw new MessageTooLargeError(this.maxLineBytes);
    }
    this.#parts.push(part);
  }

  /** Decoded as a whole: characters that chunks cut in two are whole again. */
  #take(): string {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    return bytes.toString('utf8').trim();
  }
}
