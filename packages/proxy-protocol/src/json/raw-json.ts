import type { JsonObject } from './json-value.js';

/** A number kept as its text. Made by `JSON.rawJSON` alone: a copy of it, by spread or `structuredClone`, is none. */
export type RawJson = Readonly<Record<'rawJSON', string>>;

// The compiler's library does not know them yet.
declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/**
 * The number in its nearest double, whether it came plain or as raw JSON (`5`, `5.0`, `12345678901234567890`, `1e400`
 * is Infinity); undefined for what is no number. Whoever checks a number that {@link parseExact} gave needs this:
 * `5.0` is a raw one, since a double would print it as `5`.
 */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

/** True for a JSON object: no array, no null, no number in raw form. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}
