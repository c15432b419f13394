import type { AgentEntry } from './agent-entry.js';
import { decodeCursor, encodeCursor, type Cursor } from './cursor.js';
import type { Matcher } from './matcher.js';
import type { SlotTable } from './slot-table.js';
import { DEFAULT_LIMIT, MAX_LIMIT, QueryRefusal, type CatalogueQuery } from './query.js';

export interface Page {
  readonly agents: readonly AgentEntry[];
  readonly nextCursor?: string;
}

export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 1) throw new QueryRefusal('invalid_limit', 'limit', 'must be 1 or more');
  return Math.min(limit, MAX_LIMIT);
}

export function cutPage(
  query: CatalogueQuery,
  matcher: Matcher | undefined,
  table: SlotTable,
  random: () => number,
): Page {
  const limit = pageLimit(query.limit);
  const order = query.order ?? 'id';
  const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor, order);
  if (matcher === undefined) return { agents: [] };
  if (order === 'id') return pageById(matcher, table, limit, cursor?.afterId);
  const best = new BestOf(table, limit + 1, keyed(cursor));
  if (order === 'freshest') {
    // The moment of the last renewal, newest first; ids decide between equals.
    scanAll(matcher, (slot) => {
      best.offer((table.entry(slot)?.ttlMs ?? 0) - (table.deadlines[slot] ?? 0), slot);
    });
    return best.page(limit, (key, afterId) => ({ order, key, afterId }));
  }
  const seed = cursor?.order === 'random' ? cursor.seed : Math.floor(random() * 0x1_0000_0000) >>> 0;
  scanAll(matcher, (slot) => {
    best.offer(mix(seed, table.hashes[slot] ?? 0), slot);
  });
  return best.page(limit, (key, afterId) => ({ order, seed, key, afterId }));
}

/** How many agents match, on all pages together. */
export function countMatches(matcher: Matcher | undefined): number {
  let count = 0;
  if (matcher !== undefined) scanAll(matcher, () => count++);
  return count;
}

/** The lists are in this order already: the walk ends with the first hit beyond the page. */
function pageById(matcher: Matcher, table: SlotTable, limit: number, afterId: string | undefined): Page {
  const agents: AgentEntry[] = [];
  matcher.each(afterId, (slot) => {
    const entry = table.entry(slot);
    if (entry !== undefined) agents.push(entry);
    return agents.length <= limit;
  });
  if (agents.length <= limit) return { agents };
  agents.pop();
  return { agents, nextCursor: encodeCursor({ order: 'id', afterId: agents.at(-1)?.agentId ?? '' }) };
}

function scanAll(matcher: Matcher, take: (slot: number) => void): void {
  matcher.each(undefined, (slot) => {
    take(slot);
    return true;
  });
}

interface Keyed {
  readonly key: number;
  readonly id: string;
}

function keyed(cursor: Cursor | undefined): Keyed | undefined {
  return cursor === undefined || cursor.order === 'id' ? undefined : { key: cursor.key, id: cursor.afterId };
}

interface Candidate {
  readonly key: number;
  readonly slot: number;
}

/** Keeps the `capacity` smallest by (key, id) beyond a cursor; memory is bounded whatever the number of offers. */
class BestOf {
  readonly #table: SlotTable;
  readonly #capacity: number;
  readonly #after: Keyed | undefined;
  readonly #kept: Candidate[] = [];
  #worst = Number.POSITIVE_INFINITY;

  constructor(table: SlotTable, capacity: number, after: Keyed | undefined) {
    this.#table = table;
    this.#capacity = capacity;
    this.#after = after;
  }

  offer(key: number, slot: number): void {
    if (key > this.#worst) return;
    const after = this.#after;
    if (after !== undefined && (key < after.key || (key === after.key && this.#table.idOf(slot) <= after.id))) return;
    this.#kept.push({ key, slot });
    if (this.#kept.length >= 2 * this.#capacity + 32) this.#trim();
  }

  page(limit: number, cursorOf: (key: number, afterId: string) => Cursor): Page {
    this.#trim();
    const agents = this.#kept.slice(0, limit).flatMap(({ slot }) => this.#table.entry(slot) ?? []);
    const last = this.#kept[limit - 1];
    if (this.#kept.length <= limit || last === undefined) return { agents };
    return { agents, nextCursor: encodeCursor(cursorOf(last.key, this.#table.idOf(last.slot))) };
  }

  #trim(): void {
    this.#kept.sort((a, b) => a.key - b.key || (this.#table.idOf(a.slot) < this.#table.idOf(b.slot) ? -1 : 1));
    if (this.#kept.length < this.#capacity) return;
    this.#kept.length = this.#capacity;
    this.#worst = this.#kept.at(-1)?.key ?? this.#worst;
  }
}

/** Each seed makes another order of the same hashes (the finaliser of MurmurHash3: every bit counts). */
function mix(seed: number, hash: number): number {
  let mixed = Math.imul(hash ^ seed, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13) ^ seed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
