/**
 * Text of at most so many bytes in UTF-8, cut between characters, with a word on how much there was. Lone surrogates
 * become U+FFFD: a span is sent as UTF-8.
 */
export function cutText(text: string, maxBytes: number): string {
  // No character takes more than three bytes for each of its UTF-16 units.
  if (text.length * 3 <= maxBytes) return text.toWellFormed();
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text.toWellFormed();
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(maxBytes, 0)));
  return `${text.slice(0, read).toWellFormed()}… (${String(bytes)} bytes in all)`;
}

/** Hands out what is left of a number of bytes to one text after the other. */
export class TextRoom {
  #bytes: number;

  constructor(maxBytes: number) {
    this.#bytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  take(text: string): string {
    const taken = cutText(text, this.#bytes);
    this.#bytes = Math.max(this.#bytes - Buffer.byteLength(taken), 0);
    return taken;
  }
}
