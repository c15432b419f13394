import type { AgentEntry } from './agent-entry.js';
import type { Index } from './matcher.js';
import { MAX_NEAR_MISSES, type CatalogueQuery, type NearMiss } from './query.js';

/** How many entries are looked at in all: an explanation is for a person and must not cost a walk of the catalogue. */
const MAX_LOOKED_AT = 2_000;

/** Agents that do not match, those that lack least first; preferably such as have one of the capabilities. */
export function nearMisses(query: CatalogueQuery, { table, terms, all, nowMs }: Index): NearMiss[] {
  const exclude = new Set(query.exclude);
  const seen = new Set<number>();
  const found: { readonly miss: NearMiss; readonly gaps: number }[] = [];

  const lists = (query.required ?? [])
    .flatMap(({ name }) => terms.get(name)?.postings ?? [])
    .sort((a, b) => a.size - b.size);
  for (const list of [...new Set(lists), all]) {
    if (list === all && found.length >= MAX_NEAR_MISSES) break;
    list.scan(undefined, undefined, (slot) => {
      if (seen.size >= MAX_LOOKED_AT) return false;
      if (seen.has(slot)) return true;
      seen.add(slot);
      const entry = table.entry(slot);
      if (entry === undefined || entry.deadlineMs <= nowMs || exclude.has(entry.agentId)) return true;
      const miss = compare(query, entry);
      const gaps = miss.missing.length + miss.versionConflicts.length + miss.labels.length;
      if (gaps > 0) found.push({ miss, gaps });
      return true;
    });
  }
  found.sort((a, b) => a.gaps - b.gaps || (a.miss.agentId < b.miss.agentId ? -1 : 1));
  return found.slice(0, MAX_NEAR_MISSES).map(({ miss }) => miss);
}

function compare(query: CatalogueQuery, entry: AgentEntry): NearMiss {
  const missing: string[] = [];
  const versionConflicts: string[] = [];
  for (const { name, range } of query.required ?? []) {
    const term = entry.terms.find((candidate) => candidate.name === name);
    if (term === undefined) {
      if (!missing.includes(name)) missing.push(name);
    } else if (range !== undefined) {
      const version = entry.version(term);
      if (!range.test(version)) versionConflicts.push(`${name}@${range.text}: ${version ?? 'no version'}`);
    }
  }
  const labels = Object.entries(query.labels ?? {})
    .filter(([name, value]) => !entry.hasLabel(name, value))
    .map(([name, value]) => `${name}=${value}`);
  return { agentId: entry.agentId, missing, versionConflicts, labels };
}
