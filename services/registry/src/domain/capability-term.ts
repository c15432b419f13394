import { PostingList } from './posting-list.js';
import { SlotBits } from './slot-bits.js';
import type { SlotTable } from './slot-table.js';

/** Below this share of all agents the bits would take more memory than they are worth. */
const SPARSE_DIVISOR = 256;
const MIN_DENSE = 64;

/** A capability somebody has: its name once for all who have it, and these, ordered by id. */
export class CapabilityTerm {
  readonly name: string;
  /** One bit of 32. Two names may share it, so it can only rule an agent out. */
  readonly signature: number;
  readonly postings: PostingList;
  readonly #table: SlotTable;
  #bits: SlotBits | undefined;

  constructor(name: string, signature: number, table: SlotTable) {
    this.name = name;
    this.signature = signature;
    this.postings = new PostingList(table);
    this.#table = table;
  }

  /** The same agents as `postings`; absent while they are few. */
  get bits(): SlotBits | undefined {
    return this.#bits;
  }

  add(slot: number): void {
    this.postings.insert(slot);
    if (this.#bits !== undefined) this.#bits.add(slot);
    else if (this.postings.size >= this.#denseFrom()) {
      const bits = new SlotBits(this.#table.length);
      this.postings.scan(undefined, undefined, (each) => {
        bits.add(each);
        return true;
      });
      this.#bits = bits;
    }
  }

  remove(slot: number): void {
    this.postings.remove(slot);
    this.#bits?.delete(slot);
    if (this.postings.size < this.#denseFrom() / 2) this.#bits = undefined;
  }

  #denseFrom(): number {
    return Math.max(MIN_DENSE, this.#table.length / SPARSE_DIVISOR);
  }
}

/** The capabilities of all agents in the index; one that nobody has any more is forgotten. */
export class CapabilityTerms {
  readonly #byName = new Map<string, CapabilityTerm>();
  readonly #table: SlotTable;
  #made = 0;

  constructor(table: SlotTable) {
    this.#table = table;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): CapabilityTerm | undefined {
    return this.#byName.get(name);
  }

  ensure(name: string): CapabilityTerm {
    let term = this.#byName.get(name);
    if (term === undefined) {
      term = new CapabilityTerm(name, 1 << (this.#made++ & 31), this.#table);
      this.#byName.set(name, term);
    }
    return term;
  }

  dropIfUnused(term: CapabilityTerm): void {
    if (term.postings.size === 0) this.#byName.delete(term.name);
  }
}
