/** The first `length` UTF-16 units at most, never half of a surrogate pair. */
export function headOf(text: string, length: number): string {
  if (length <= 0) return '';
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
}

/** The last `length` UTF-16 units at most, never half of a surrogate pair. */
export function tailOf(text: string, length: number): string {
  if (length <= 0) return '';
  if (text.length <= length) return text;
  const from = text.length - length;
  return text.slice(isHighSurrogate(text.charCodeAt(from - 1)) ? from + 1 : from);
}

/** Beginning and end of a text that is longer than `length`, with a note of how much is missing in between. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = headOf(text, Math.ceil((length * 2) / 3));
  const tail = tailOf(text, length - Math.ceil((length * 2) / 3));
  return `${head} … [${text.length - head.length - tail.length} characters left out] … ${tail}`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
