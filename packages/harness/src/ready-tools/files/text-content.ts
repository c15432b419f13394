/** So many bytes at the start tell whether a file is text. */
const BINARY_PROBE_BYTES = 8_192;

/** Text in no encoding that is in use here has NUL bytes; UTF-16 has, and is not read as text. */
export function looksBinary(start: Buffer): boolean {
  return start.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

export interface DecodedText {
  readonly text: string;
  /** False if bytes that are no UTF-8 were replaced by U+FFFD. */
  readonly valid: boolean;
}

/** A byte order mark stays, so that writing the text gives the same bytes again. */
export function decodeUtf8(bytes: Buffer): DecodedText {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), valid: true };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), valid: false };
  }
}
