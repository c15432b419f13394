import type { AgentEntry } from './agent-entry.js';

const INITIAL_CAPACITY = 64;

/**
 * Every entry has a small number, its slot, for as long as it is in the index. Lists of agents are lists of slots, and
 * what a search looks at for thousands of agents stands here in flat arrays: following a reference to each entry
 * would wait for main memory three times per agent.
 */
export class SlotTable {
  readonly #entries: (AgentEntry | undefined)[] = [];
  readonly #free: number[] = [];
  deadlines = new Float64Array(INITIAL_CAPACITY);
  signatures = new Int32Array(INITIAL_CAPACITY);
  labelSignatures = new Int32Array(INITIAL_CAPACITY);
  /** A hash of each id. */
  hashes = new Uint32Array(INITIAL_CAPACITY);

  /** One more than the highest slot ever used. */
  get length(): number {
    return this.#entries.length;
  }

  take(entry: AgentEntry): number {
    const slot = this.#free.pop() ?? this.#entries.length;
    if (slot >= this.deadlines.length) this.#grow();
    this.#entries[slot] = entry;
    this.deadlines[slot] = entry.deadlineMs;
    this.signatures[slot] = entry.signature;
    this.labelSignatures[slot] = labelSignature(entry.labels ?? []);
    this.hashes[slot] = hashOf(entry.agentId);
    return slot;
  }

  release(slot: number): void {
    this.#entries[slot] = undefined;
    this.#free.push(slot);
  }

  entry(slot: number): AgentEntry | undefined {
    return this.#entries[slot];
  }

  idOf(slot: number): string {
    return this.#entries[slot]?.agentId ?? '';
  }

  #grow(): void {
    const capacity = this.deadlines.length * 2;
    const { deadlines, signatures, labelSignatures, hashes } = this;
    this.deadlines = new Float64Array(capacity);
    this.deadlines.set(deadlines);
    this.signatures = new Int32Array(capacity);
    this.signatures.set(signatures);
    this.labelSignatures = new Int32Array(capacity);
    this.labelSignatures.set(labelSignatures);
    this.hashes = new Uint32Array(capacity);
    this.hashes.set(hashes);
  }
}

/**
 * Of names and values in turn, one bit of 32 for each pair. It can only rule an agent out, but that for most agents
 * when a label is rare, and labels have no lists of their own.
 */
export function labelSignature(labels: readonly string[]): number {
  let signature = 0;
  for (let i = 0; i + 1 < labels.length; i += 2) {
    signature |= 1 << (hashOf(`${labels[i] ?? ''}=${labels[i + 1] ?? ''}`) & 31);
  }
  return signature;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
