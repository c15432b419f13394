import type { SlotBits } from './slot-bits.js';
import type { SlotTable } from './slot-table.js';

const CHUNK_CAPACITY = 256;

/**
 * Agents ordered by id, as slots in chunks: finding a place is logarithmic and inserting moves at most one chunk, at
 * eight bytes an agent. A set per capability would cost about five times the memory and know no order.
 */
export class PostingList {
  readonly #table: SlotTable;
  readonly #chunks: number[][] = [];
  #size = 0;

  constructor(table: SlotTable) {
    this.#table = table;
  }

  get size(): number {
    return this.#size;
  }

  /** The caller knows that the id is not in the list. */
  insert(slot: number): void {
    this.#size++;
    const agentId = this.#table.idOf(slot);
    const at = Math.max(0, this.#chunkOf(agentId));
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([slot]);
      return;
    }
    chunk.splice(this.#lowerBound(chunk, agentId), 0, slot);
    if (chunk.length > CHUNK_CAPACITY) this.#split(at, chunk);
  }

  /** While the entry is still in the table: it is found by its id. */
  remove(slot: number): void {
    const agentId = this.#table.idOf(slot);
    const at = this.#chunkOf(agentId);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const place = this.#lowerBound(chunk, agentId);
    if (chunk[place] !== slot) return;
    this.#size--;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    else if (chunk.length < CHUNK_CAPACITY / 8) this.#merge(at, chunk);
  }

  /**
   * Visits, in id order, the slots after `afterId` that are also in `within`, until `visit` answers false.
   * The list must not be changed meanwhile.
   */
  scan(afterId: string | undefined, within: SlotBits | undefined, visit: (slot: number) => boolean): void {
    const chunks = this.#chunks;
    const words = within?.words;
    let at = afterId === undefined ? 0 : Math.max(0, this.#chunkOf(afterId));
    let place = afterId === undefined ? 0 : this.#upperBound(chunks[at] ?? [], afterId);
    for (; at < chunks.length; at++, place = 0) {
      const chunk = chunks[at] ?? [];
      for (; place < chunk.length; place++) {
        const slot = chunk[place] ?? 0;
        if (words !== undefined && (((words[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) === 0) continue;
        if (!visit(slot)) return;
      }
    }
  }

  /** The last chunk that begins at or before the id; -1 when the id lies before all. */
  #chunkOf(agentId: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#table.idOf(this.#chunks[middle]?.[0] ?? 0) <= agentId) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #lowerBound(chunk: readonly number[], agentId: string): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#table.idOf(chunk[middle] ?? 0) < agentId) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #upperBound(chunk: readonly number[], agentId: string): number {
    const at = this.#lowerBound(chunk, agentId);
    const slot = chunk[at];
    return slot !== undefined && this.#table.idOf(slot) === agentId ? at + 1 : at;
  }

  #split(at: number, chunk: number[]): void {
    // Ids often arrive in order; a full chunk that was appended to stays nearly full.
    const appended = at === this.#chunks.length - 1;
    const upper = chunk.splice(appended ? CHUNK_CAPACITY - 16 : CHUNK_CAPACITY / 2);
    this.#chunks.splice(at + 1, 0, upper);
  }

  #merge(at: number, chunk: number[]): void {
    const left = at > 0 ? this.#chunks[at - 1] : chunk;
    const right = at > 0 ? chunk : this.#chunks[at + 1];
    if (left === undefined || right === undefined || left.length + right.length > CHUNK_CAPACITY / 2) return;
    left.push(...right);
    this.#chunks.splice(at > 0 ? at : at + 1, 1);
  }
}
