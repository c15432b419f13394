import type { Json } from './facts.js';
import { isObject, rawNumberText } from './json-values.js';

/** Sentences quote values as Python does, since that is what the drivers of this protocol have always read. */
const MAX_CHARACTERS = 200;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** A string in quotes, with escapes for what is not printable, cut when it is long. */
export function quote(value: string): string {
  const cut = Array.from(value.slice(0, 2 * MAX_CHARACTERS))
    .slice(0, MAX_CHARACTERS)
    .join('');
  return cut.length === value.length ? quoteWhole(value) : `${quoteWhole(cut)}…`;
}

function quoteWhole(value: string): string {
  const mark = value.includes("'") && !value.includes('"') ? '"' : "'";
  const inner = value.replace(/[\p{C}\p{Z}\\'"]/gu, (character) => {
    if (character === ' ') return character;
    if (character === "'" || character === '"') return character === mark ? `\\${character}` : character;
    return ESCAPES.get(character) ?? escapeCode(character.codePointAt(0) ?? 0);
  });
  return mark + inner + mark;
}

function escapeCode(code: number): string {
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Any value, cut to 200 characters. */
export function quoteValue(value: Json): string {
  return Array.from(quoteWithin(value, MAX_CHARACTERS)).slice(0, MAX_CHARACTERS).join('');
}

/** At least `room` characters of the value's text, or all of it: every level takes one, so depth is bounded too. */
function quoteWithin(value: Json, room: number): string {
  if (room <= 0) return '';
  if (value === null) return 'None';
  if (typeof value === 'string') return quoteWhole(value.slice(0, 2 * room));
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) {
    return listWithin('[', value, ']', room, quoteWithin);
  }
  if (isObject(value)) {
    return listWithin('{', Object.entries(value), '}', room, ([name, item], left) => {
      const label = `${quoteWhole(name.slice(0, 2 * left))}: `;
      return label + quoteWithin(item, left - label.length);
    });
  }
  return rawNumberText(value) ?? JSON.stringify(value);
}

function listWithin<T>(
  open: string,
  items: readonly T[],
  close: string,
  room: number,
  show: (item: T, room: number) => string,
): string {
  let text = open;
  for (const [index, item] of items.entries()) {
    // Counts UTF-16 units twice, so that what is cut off never had to be seen.
    if (text.length > 2 * room) return text;
    text += (index === 0 ? '' : ', ') + show(item, room - 1);
  }
  return text + close;
}
