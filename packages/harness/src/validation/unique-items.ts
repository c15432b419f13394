import type { JsonValue } from '../json.js';
import { isList, isMap } from './schema-nodes.js';
import type { WorkBudget } from './work-budget.js';

/** Whether no two items are equal as JSON. Linear in the size of the list, where comparing pairs is quadratic. */
export function hasUniqueItems(items: readonly JsonValue[], budget: WorkBudget): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const key = canonicalKey(item, budget);
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

/** Equal values, and only they, have one key; the order of an object's properties does not matter. */
function canonicalKey(value: JsonValue, budget: WorkBudget): string {
  budget.spend(4);
  if (isList(value)) return `[${value.map((item) => canonicalKey(item, budget)).join(',')}]`;
  if (!isMap(value)) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalKey(item, budget)}`).join(',')}}`;
}
