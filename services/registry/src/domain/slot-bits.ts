/** A set of slots, one bit each: membership without touching the agent. */
export class SlotBits {
  words: Uint32Array;

  constructor(slots: number) {
    this.words = new Uint32Array(Math.max(2, (slots + 31) >>> 5));
  }

  add(slot: number): void {
    const at = slot >>> 5;
    if (at >= this.words.length) {
      const { words } = this;
      this.words = new Uint32Array(Math.max(at + 1, words.length * 2));
      this.words.set(words);
    }
    this.words[at] = (this.words[at] ?? 0) | (1 << (slot & 31));
  }

  delete(slot: number): void {
    const at = slot >>> 5;
    if (at < this.words.length) this.words[at] = (this.words[at] ?? 0) & ~(1 << (slot & 31));
  }

  has(slot: number): boolean {
    return (((this.words[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) === 1;
  }
}
