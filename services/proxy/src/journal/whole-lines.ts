import type { FileHandle } from 'node:fs/promises';

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 1024 * 1024;

/** Bytes up to and with the last line feed: what is after it was cut off while it was written. */
export async function lengthOfWholeLines(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(Math.min(size, CHUNK_BYTES));
  for (let end = size; end > 0;) {
    const start = Math.max(end - chunk.length, 0);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const index = chunk.subarray(0, bytesRead).lastIndexOf(LINE_FEED);
    if (index >= 0) return start + index + 1;
    end = start;
  }
  return 0;
}

/** The lines of a file without their line feeds, then what follows the last line feed (`isWhole` false), if anything. */
export async function* readLines(
  file: FileHandle,
): AsyncGenerator<{ readonly bytes: Buffer; readonly isWhole: boolean; readonly end: number }> {
  let rest: Buffer[] = [];
  let position = 0;
  for (;;) {
    // A new one for each read: lines are views of it.
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    let start = 0;
    for (
      let index = chunk.indexOf(LINE_FEED);
      index >= 0 && index < bytesRead;
      index = chunk.indexOf(LINE_FEED, start)
    ) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(start, index)]), isWhole: true, end: position + index + 1 };
      rest = [];
      start = index + 1;
    }
    if (start < bytesRead) rest.push(chunk.subarray(start, bytesRead));
    position += bytesRead;
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), isWhole: false, end: position };
}
