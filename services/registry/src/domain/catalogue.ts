import { AgentEntry } from './agent-entry.js';
import { CapabilityTerms } from './capability-term.js';
import { DeadlineHeap } from './deadline-heap.js';
import { facetsOf } from './facets.js';
import { fromManifestJson } from './manifest.js';
import { bindQuery, type Index, type Matcher } from './matcher.js';
import { nearMisses } from './near-misses.js';
import { countMatches, cutPage } from './page.js';
import { PostingList } from './posting-list.js';
import { SlotTable } from './slot-table.js';
import type { CatalogueQuery, NearMiss } from './query.js';
import type { AgentRecord } from './types.js';

export interface CataloguePage {
  readonly agents: readonly AgentEntry[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
  /** With `explain`. */
  readonly nearMisses?: readonly NearMiss[];
  /** With `countTotal`. */
  readonly total?: number;
}

/**
 * Who is there and what they can do, in memory. Answers show only agents whose deadline lies after the moment asked
 * about, whether or not an entry has been dropped yet.
 */
export class Catalogue {
  readonly #entries = new Map<string, AgentEntry>();
  readonly #table = new SlotTable();
  readonly #all = new PostingList(this.#table);
  readonly #terms = new CapabilityTerms(this.#table);
  readonly #deadlines = new DeadlineHeap<AgentEntry>();
  readonly #random: () => number;

  constructor(options: { readonly random?: () => number } = {}) {
    this.#random = options.random ?? Math.random;
  }

  /** All entries, those past their deadline included. */
  get size(): number {
    return this.#entries.size;
  }

  /** The entry, dead or alive. */
  entry(agentId: string): AgentEntry | undefined {
    return this.#entries.get(agentId);
  }

  get(agentId: string, nowMs: number): AgentEntry | undefined {
    const entry = this.#entries.get(agentId);
    return entry !== undefined && entry.deadlineMs > nowMs ? entry : undefined;
  }

  /** Takes in a registration in place of whatever stood under its id. @throws SyntaxError when its JSON is damaged. */
  upsert(record: AgentRecord): AgentEntry {
    // Read before the old entry goes, bound to terms after: a term that only the old entry had is made anew.
    const manifest = fromManifestJson(record.manifestJson);
    this.remove(record.agentId);
    const entry = new AgentEntry(record, facetsOf(manifest, this.#terms));
    this.#entries.set(entry.agentId, entry);
    entry.slot = this.#table.take(entry);
    this.#all.insert(entry.slot);
    for (const term of entry.terms) term.add(entry.slot);
    this.#deadlines.add(entry);
    return entry;
  }

  remove(agentId: string): AgentEntry | undefined {
    const entry = this.#entries.get(agentId);
    if (entry === undefined) return undefined;
    this.#entries.delete(agentId);
    this.#all.remove(entry.slot);
    for (const term of entry.terms) {
      term.remove(entry.slot);
      this.#terms.dropIfUnused(term);
    }
    this.#deadlines.remove(entry);
    this.#table.release(entry.slot);
    entry.slot = -1;
    return entry;
  }

  setDeadline(entry: AgentEntry, deadlineMs: number): void {
    if (entry.deadlineMs === deadlineMs) return;
    entry.setDeadline(deadlineMs);
    if (entry.slot >= 0) this.#table.deadlines[entry.slot] = deadlineMs;
    this.#deadlines.update(entry);
  }

  /** At most `limit` entries whose deadline is at or before `untilMs`; costs what is due. */
  due(untilMs: number, limit: number): AgentEntry[] {
    return this.#deadlines.due(untilMs, limit);
  }

  livingCount(nowMs: number): number {
    return this.#entries.size - this.#deadlines.countDue(nowMs);
  }

  /** @throws QueryRefusal */
  discover(query: CatalogueQuery, nowMs: number): CataloguePage {
    const index: Index = { table: this.#table, terms: this.#terms, all: this.#all, nowMs };
    const matcher = bindQuery(query, index);
    const page = cutPage(query, matcher, this.#table, this.#random);
    if (query.explain !== true && query.countTotal !== true) return page;
    return {
      ...page,
      ...(query.explain === true ? { nearMisses: nearMisses(query, index) } : {}),
      ...(query.countTotal === true ? { total: this.#total(query, nowMs, matcher) } : {}),
    };
  }

  /** Every living entry in id order. The catalogue must not change while it is read. */
  living(nowMs: number): AgentEntry[] {
    const found: AgentEntry[] = [];
    this.#all.scan(undefined, undefined, (slot) => {
      const entry = this.#table.entry(slot);
      if (entry !== undefined && entry.deadlineMs > nowMs) found.push(entry);
      return true;
    });
    return found;
  }

  entries(): IterableIterator<AgentEntry> {
    return this.#entries.values();
  }

  #total(query: CatalogueQuery, nowMs: number, matcher: Matcher | undefined): number {
    const filtered =
      (query.required?.length ?? 0) > 0 ||
      (query.exclude?.length ?? 0) > 0 ||
      Object.keys(query.labels ?? {}).length > 0;
    return filtered ? countMatches(matcher) : this.livingCount(nowMs);
  }
}
