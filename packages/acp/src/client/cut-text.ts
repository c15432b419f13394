/** The beginning of a text that has room in so many bytes of UTF-8: whole characters only. */
export function cutToBytes(text: string, maxBytes: number): string {
  // No character takes more than three bytes for each of its units.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = new Uint8Array(Math.max(0, maxBytes));
  // Writes no part of a character, and tells how much of the text it has read.
  return text.slice(0, new TextEncoder().encodeInto(text, bytes).read);
}

/** The beginning of a name that a child gave; undefined if it gave none. */
export function shortName(value: unknown, maxChars: number): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, maxChars).toWellFormed() : undefined;
}
