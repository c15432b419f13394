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
