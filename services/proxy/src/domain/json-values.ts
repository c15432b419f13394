import type { Json, JsonObject } from './facts.js';

// The compiler's library does not know it yet.
const { isRawJSON } = JSON as unknown as {
  readonly isRawJSON: (value: unknown) => value is { readonly rawJSON: string };
};

/** The text of a number that was kept as it was written; undefined for everything else. */
export function rawNumberText(value: unknown): string | undefined {
  return isRawJSON(value) ? value.rawJSON : undefined;
}

/** A number, plain or raw, in its nearest double; undefined for what is no number. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const text = rawNumberText(value);
  return text === undefined ? undefined : Number(text);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/** Present as a member of its own: nothing is inherited from a prototype. */
export function member(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** What Python takes for false: null, false, any zero, and what is empty. */
export function isFalsy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  const number = numberOf(value);
  if (number !== undefined) return number === 0;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Arrays and objects within each other that a value may have. */
export const MAX_DEPTH = 512;

/**
 * Why a value cannot be kept as JSON, in words that follow "it"; undefined if it can. Its depth costs no stack.
 * Numbers beyond a double are fine where their text was kept.
 */
export function whyNotJson(value: unknown): string | undefined {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return 'is nested too deeply';
    const below: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'number' && !Number.isFinite(item)) return "holds a number that isn't finite";
      if (typeof item !== 'object' || item === null || isRawJSON(item)) continue;
      for (const child of Array.isArray(item) ? (item as unknown[]) : Object.values(item)) {
        if (typeof child === 'object' || typeof child === 'number') below.push(child);
      }
    }
    level = below;
  }
  return undefined;
}
