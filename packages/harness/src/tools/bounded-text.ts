/** Text that UTF-8 can hold, of at most `maxBytes` bytes; what is longer is cut and says so at its end. */
export function boundedText(text: string, maxBytes: number): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  // No UTF-16 unit takes more than three bytes, so that most texts need no count.
  if (whole.length * 3 <= maxBytes || Buffer.byteLength(whole) <= maxBytes) return whole;
  const marker = truncationMarker(maxBytes);
  return cutToBytes(whole, Math.max(0, maxBytes - Buffer.byteLength(marker))) + marker;
}

/** What a cut text ends with. */
export function truncationMarker(maxBytes: number): string {
  return `\n[truncated: the result is larger than ${maxBytes} bytes]`;
}

function cutToBytes(text: string, bytes: number): string {
  const encoded = Buffer.from(text.slice(0, bytes + 1));
  let end = Math.min(bytes, encoded.length);
  // Bytes 10xxxxxx continue a character: a cut in front of one would tear it.
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return encoded.toString('utf8', 0, end);
}
