import type { JsonValue } from '../json.js';

const MAX_DEPTH = 100;

/**
 * One text for all spellings of a JSON value: keys sorted, no blanks.
 *
 * @returns undefined for a value that is nested too deeply to be compared.
 */
export function canonicalJson(value: JsonValue): string | undefined {
  return textOf(value, 0);
}

function textOf(value: JsonValue, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth >= MAX_DEPTH) return undefined;
  return isList(value) ? listText(value, depth) : objectText(value, depth);
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function listText(values: readonly JsonValue[], depth: number): string | undefined {
  let text = '[';
  for (const value of values) {
    const part = textOf(value, depth + 1);
    if (part === undefined) return undefined;
    text += text === '[' ? part : `,${part}`;
  }
  return `${text}]`;
}

function objectText(value: Readonly<Record<string, JsonValue>>, depth: number): string | undefined {
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const part = textOf(value[key] ?? null, depth + 1);
    if (part === undefined) return undefined;
    text += `${text === '{' ? '' : ','}${JSON.stringify(key)}:${part}`;
  }
  return `${text}}`;
}
