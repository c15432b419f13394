import type { OutputChunk } from '../actions/action-types.js';

interface Piece extends OutputChunk {
  /** Where it begins in all that was written, in characters. */
  readonly start: number;
}

/** What a running command has written so far, both streams in order of arrival; the oldest goes when it is much. */
export class LiveOutput {
  #pieces: Piece[] = [];
  /** Pieces before this one are dropped; the list itself is shortened now and then. */
  #first = 0;
  #end = 0;

  constructor(private readonly maxCharacters: number) {}

  /** Characters written in all. */
  get end(): number {
    return this.#end;
  }

  add({ stream, text }: OutputChunk): void {
    if (text === '') return;
    this.#pieces.push({ stream, text, start: this.#end });
    this.#end += text.length;
    this.#drop();
  }

  /** What came after so many characters, as far as it is still kept. */
  since(after: number): { readonly stdout: string; readonly stderr: string; readonly next: number } {
    const written = { stdout: '', stderr: '' };
    let at = this.#pieces.length;
    while (at > this.#first && this.#endOf(at - 1) > after) at -= 1;
    for (const { stream, text, start } of this.#pieces.slice(at))
      written[stream] += text.slice(Math.max(0, after - start));
    return { ...written, next: this.#end };
  }

  clear(): void {
    this.#pieces = [];
    this.#first = 0;
  }

  #endOf(index: number): number {
    return this.#pieces[index + 1]?.start ?? this.#end;
  }

  #drop(): void {
    // The last piece stays, however long: a reader meets at most that much more than the bound.
    while (this.#first < this.#pieces.length - 1 && this.#end - this.#endOf(this.#first) >= this.maxCharacters) {
      this.#first += 1;
    }
    if (this.#first < 64 || 2 * this.#first < this.#pieces.length) return;
    this.#pieces = this.#pieces.slice(this.#first);
    this.#first = 0;
  }
}
