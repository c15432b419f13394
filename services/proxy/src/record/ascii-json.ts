import type { Json } from '../domain/facts.js';

/**
 * JSON text in ASCII with `, ` and `: ` between, in which prompts and completions are kept: readers compare such texts.
 * Numbers stay as they were written.
 */
export function asciiJson(value: Json): string {
  if (typeof value === 'string') return asciiText(value);
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(asciiJson).join(', ')}]`;
  const members = Object.entries(value as Readonly<Record<string, Json | undefined>>)
    .filter((member): member is [string, Json] => member[1] !== undefined)
    .map(([name, member]) => `${asciiText(name)}: ${asciiJson(member)}`);
  return `{${members.join(', ')}}`;
}

const OUTSIDE = /[^ -~]/g;

function asciiText(text: string): string {
  return JSON.stringify(text).replace(OUTSIDE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
