import { ByteRing, withoutCutStart } from '@parley/shell';

/** Keeps the last bytes of a stream. */
export class ByteTail {
  readonly #ring: ByteRing;

  constructor(maxBytes: number) {
    this.#ring = new ByteRing(maxBytes);
  }

  add(chunk: Buffer): void {
    this.#ring.add(chunk);
  }

  /** Whole characters; `isCut` if more was added than is kept. */
  content(): { readonly text: string; readonly isCut: boolean } {
    const bytes = this.#ring.content();
    const isCut = this.#ring.addedBytes > bytes.length;
    return { text: (isCut ? withoutCutStart(bytes) : bytes).toString('utf8'), isCut };
  }
}
