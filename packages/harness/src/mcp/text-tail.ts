/** Keeps the end of a stream of text, in bounded memory. */
export class TextTail {
  #text = '';

  constructor(private readonly maxChars: number) {}

  append(chunk: string): void {
    this.#text = (this.#text + chunk).slice(-this.maxChars);
  }

  /** Without the control characters that could change a terminal. */
  toString(): string {
    return this.#text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/gu, '').trim();
  }
}
