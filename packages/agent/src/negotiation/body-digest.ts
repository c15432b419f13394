import type { NegotiationRequest } from '../wire/negotiation.js';
import { sha256 } from './terms-digest.js';

/**
 * Tells whether two requests ask the same, whatever the order of their fields. Left out: the free text, which
 * decides nothing, and the time that is left, which is another one in each repetition.
 */
export function bodyDigest(request: NegotiationRequest): string {
  const { message: _, deadline_ms: __, ...asked } = request;
  return sha256(JSON.stringify(sortedEntries(asked)));
}

function sortedEntries(map: object): [string, unknown][] {
  return (Object.entries(map) as [string, unknown][])
    .filter(([, value]) => value !== undefined)
    .map(([key, value]): [string, unknown] => [key, isMap(value) ? sortedEntries(value) : value])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
