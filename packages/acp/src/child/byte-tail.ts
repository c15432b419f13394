/** Keeps the last bytes of a stream. */
export class ByteTail {
  #parts: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(private readonly maxBytes: number) {}

  /** Keeps copies: a part of a chunk would keep all of it in memory. */
  add(chunk: Buffer): void {
    if (chunk.length >= this.maxBytes) {
      this.#isCut ||= this.#bytes > 0 || chunk.length > this.maxBytes;
      this.#parts = [Buffer.from(chunk.subarray(chunk.length - this.maxBytes))];
      this.#bytes = this.maxBytes;
      return;
    }
    this.#parts.push(Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes > 2 * this.maxBytes) this.#cut();
  }

  /** Whole characters; `isCut` if more was added than is kept. */
  content(): { readonly text: string; readonly isCut: boolean } {
    this.#cut();
    const bytes = Buffer.concat(this.#parts);
    const begin = this.#isCut ? restOfCharacter(bytes) : 0;
    return { text: bytes.toString('utf8', begin), isCut: this.#isCut };
  }

  #cut(): void {
    const bytes = Buffer.concat(this.#parts);
    if (bytes.length > this.maxBytes) this.#isCut = true;
    this.#parts = [Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.maxBytes)))];
    this.#bytes = Math.min(bytes.length, this.maxBytes);
  }
}

/** How many bytes at the start belong to a character that is cut off. */
function restOfCharacter(bytes: Buffer): number {
  let rest = 0;
  while (rest < Math.min(3, bytes.length) && (bytes.readUInt8(rest) & 0xc0) === 0x80) rest += 1;
  return rest;
}
