import { hasLoneSurrogate, hasNonFinite } from '@parley/proxy-protocol';
import type { Json } from '../domain/facts.js';

/**
 * The value, or a copy of it with U+FFFD for halves of surrogate pairs and null for NaN and infinities: what a server
 * sends goes into answers, journal and traces, which have no form for those.
 */
export function jsonSafe<T extends Json>(value: T): T {
  return hasLoneSurrogate(value) || hasNonFinite(value) ? (mended(value) as T) : value;
}

function mended(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(mended);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), mended(member)]));
}
