const FIRST_BYTES = 16_384;

/** Keeps the last bytes of what was added, up to a bound; takes memory only as it fills. */
export class ByteRing {
  #bytes = Buffer.alloc(0);
  /** Where the next byte goes. */
  #at = 0;
  #added = 0;

  constructor(private readonly maxBytes: number) {}

  /** How many were ever added. */
  get addedBytes(): number {
    return this.#added;
  }

  /** Copies the bytes: a part of a chunk would keep all of it in memory. */
  add(chunk: Buffer): void {
    this.#grow(Math.min(this.maxBytes, this.#added + chunk.length));
    this.#added += chunk.length;
    const size = this.#bytes.length;
    if (size === 0) return;
    const rest = chunk.length > size ? chunk.subarray(chunk.length - size) : chunk;
    const first = Math.min(rest.length, size - this.#at);
    rest.copy(this.#bytes, this.#at, 0, first);
    rest.copy(this.#bytes, 0, first);
    this.#at = (this.#at + rest.length) % size;
  }

  /** What is kept, in order. */
  content(): Buffer {
    if (this.#added < this.#bytes.length) return this.#bytes.subarray(0, this.#added);
    return Buffer.concat([this.#bytes.subarray(this.#at), this.#bytes.subarray(0, this.#at)]);
  }

  #grow(neededBytes: number): void {
    if (neededBytes <= this.#bytes.length) return;
    const size = Math.min(this.maxBytes, Math.max(neededBytes, this.#bytes.length * 2, FIRST_BYTES));
    // Not full yet, so its content begins at its start; exactly full, its next byte is at 0 again.
    const kept = this.content();
    const grown = Buffer.allocUnsafeSlow(size);
    kept.copy(grown);
    this.#bytes = grown;
    this.#at = kept.length % size;
  }
}
