/** Characters of a text, split by what they cost. Mutable so that a sum needs no copies. */
export interface CharacterCount {
  ascii: number;
  /** Code points from U+0080 on; a pair of surrogates is one. */
  nonAscii: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const FIRST_NON_ASCII = 0x80;
const SHORT_ESCAPE = 1;
const UNICODE_ESCAPE = 5;

/** The characters of `text` as they are. */
export function countCharacters(text: string): CharacterCount {
  let nonAscii = 0;
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < FIRST_NON_ASCII) continue;
    nonAscii++;
    if (isLowOfPair(text, at, unit)) pairs++;
  }
  return { ascii: text.length - nonAscii, nonAscii: nonAscii - pairs };
}

/** The characters of `text` as a JSON string: with its quotes, and what JSON escapes counted as escaped. */
export function countJsonString(text: string): CharacterCount {
  const count = countCharacters(text);
  count.ascii += 2 + escapeCount(text);
  return count;
}

/** Adds up in place. */
export function addCount(sum: CharacterCount, more: CharacterCount): void {
  sum.ascii += more.ascii;
  sum.nonAscii += more.nonAscii;
}

function escapeCount(text: string): number {
  let extra = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < FIRST_PRINTABLE) extra += hasShortEscape(unit) ? SHORT_ESCAPE : UNICODE_ESCAPE;
    else if (unit === QUOTE || unit === BACKSLASH) extra += SHORT_ESCAPE;
  }
  return extra;
}

/** Backspace, tab, line feed, form feed, carriage return. */
function hasShortEscape(unit: number): boolean {
  return unit >= 0x08 && unit <= 0x0d && unit !== 0x0b;
}

function isLowOfPair(text: string, at: number, unit: number): boolean {
  if (unit < 0xdc00 || unit > 0xdfff || at === 0) return false;
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
