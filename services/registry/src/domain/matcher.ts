import type { AgentEntry } from './agent-entry.js';
import type { CapabilityTerm, CapabilityTerms } from './capability-term.js';
import type { PostingList } from './posting-list.js';
import type { CatalogueQuery } from './query.js';
import type { SlotBits } from './slot-bits.js';
import { labelSignature, type SlotTable } from './slot-table.js';
import type { VersionRange } from './version-range.js';

interface WantedVersion {
  readonly term: CapabilityTerm;
  readonly range: VersionRange;
}

/**
 * A query bound to the index of this moment. The shortest list is walked; the other capabilities are looked up in
 * their bits or, where they are rare, on the entry. Valid until the index changes.
 */
export class Matcher {
  readonly #table: SlotTable;
  readonly #nowMs: number;
  readonly #candidates: PostingList;
  readonly #within: SlotBits | undefined;
  readonly #dense: readonly SlotBits[];
  readonly #sparse: readonly CapabilityTerm[];
  readonly #mask: number;
  readonly #versions: readonly WantedVersion[];
  readonly #labels: readonly (readonly [string, string])[];
  readonly #labelMask: number;
  readonly #exclude: ReadonlySet<string> | undefined;
  /** Whether the entry itself must be looked at. */
  readonly #looksAtEntry: boolean;

  constructor(
    query: CatalogueQuery,
    wanted: readonly CapabilityTerm[],
    versions: readonly WantedVersion[],
    index: Index,
  ) {
    this.#table = index.table;
    this.#nowMs = index.nowMs;
    const [shortest, ...others] = wanted;
    this.#candidates = shortest?.postings ?? index.all;
    const dense = others.flatMap((term) => term.bits ?? []);
    this.#within = dense[0];
    this.#dense = dense.slice(1);
    this.#sparse = others.filter((term) => term.bits === undefined);
    this.#mask = this.#sparse.reduce((mask, term) => mask | term.signature, 0);
    this.#versions = versions;
    this.#labels = query.labels === undefined ? [] : Object.entries(query.labels);
    this.#labelMask = labelSignature(this.#labels.flat());
    this.#exclude = query.exclude === undefined || query.exclude.length === 0 ? undefined : new Set(query.exclude);
    this.#looksAtEntry =
      this.#sparse.length > 0 || versions.length > 0 || this.#labels.length > 0 || this.#exclude !== undefined;
  }

  /** Visits the slots of all matching agents after `afterId` in id order, until `visit` answers false. */
  each(afterId: string | undefined, visit: (slot: number) => boolean): void {
    this.#candidates.scan(afterId, this.#within, (slot) => !this.#matches(slot) || visit(slot));
  }

  #matches(slot: number): boolean {
    for (const bits of this.#dense) if (!bits.has(slot)) return false;
    if ((this.#table.deadlines[slot] ?? 0) <= this.#nowMs) return false;
    if (!this.#looksAtEntry) return true;
    if (((this.#table.signatures[slot] ?? 0) & this.#mask) !== this.#mask) return false;
    if (((this.#table.labelSignatures[slot] ?? 0) & this.#labelMask) !== this.#labelMask) return false;
    const entry = this.#table.entry(slot);
    return entry !== undefined && this.#matchesEntry(entry);
  }

  #matchesEntry(entry: AgentEntry): boolean {
    for (const term of this.#sparse) if (!entry.terms.includes(term)) return false;
    for (const { term, range } of this.#versions) if (!range.test(entry.version(term))) return false;
    for (const [name, value] of this.#labels) if (!entry.hasLabel(name, value)) return false;
    return this.#exclude === undefined || !this.#exclude.has(entry.agentId);
  }
}

export interface Index {
  readonly table: SlotTable;
  readonly terms: CapabilityTerms;
  readonly all: PostingList;
  readonly nowMs: number;
}

/** Undefined: nobody can match, because nobody has one of the capabilities. */
export function bindQuery(query: CatalogueQuery, index: Index): Matcher | undefined {
  const wanted: CapabilityTerm[] = [];
  const versions: WantedVersion[] = [];
  for (const { name, range } of query.required ?? []) {
    const term = index.terms.get(name);
    if (term === undefined) return undefined;
    if (range !== undefined) versions.push({ term, range });
    if (!wanted.includes(term)) wanted.push(term);
  }
  wanted.sort((a, b) => a.postings.size - b.postings.size);
  return new Matcher(query, wanted, versions, index);
}
