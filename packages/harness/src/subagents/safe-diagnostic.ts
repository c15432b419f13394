const MAX_BYTES = 4_096;
const CUT_MARK = '…';

/** Text that can be shown and stored: without control characters, at most 4,096 bytes of UTF-8, whole characters. */
export function safeDiagnostic(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu, '')
    .trim();
  if (Buffer.byteLength(clean) <= MAX_BYTES) return clean;
  const room = MAX_BYTES - Buffer.byteLength(CUT_MARK);
  const bytes = Buffer.from(clean).subarray(0, room);
  // A character that was cut in two becomes U+FFFD at the end.
  return `${bytes.toString('utf8').replace(/\ufffd+$/u, '')}${CUT_MARK}`;
}
