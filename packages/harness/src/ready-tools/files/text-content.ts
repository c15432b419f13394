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

/** The bytes without a character that is cut off at their end. */
export function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes.readUInt8(bytes.length - back);
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

/** The bytes without the rest of a character that is cut off at their start. */
export function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes.readUInt8(start) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}
