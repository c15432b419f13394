import type { Stream } from './fact-log.js';

const ENDING = '.jsonl';
/** With the ending, well within what file systems take. */
const MAX_NAME_LENGTH = 200;

/** @throws Error for a stream that cannot be a file's name. */
export function fileNameOf(stream: Stream): string {
  const name = encodeURIComponent(stream);
  if (name === '' || name.length > MAX_NAME_LENGTH) throw new Error('a stream of the journal needs a shorter name');
  return `${name}${ENDING}`;
}

/** Undefined for a file that is no stream's. */
export function streamOfFileName(name: string): Stream | undefined {
  if (!name.endsWith(ENDING)) return undefined;
  try {
    return decodeURIComponent(name.slice(0, -ENDING.length));
  } catch {
    return undefined;
  }
}
