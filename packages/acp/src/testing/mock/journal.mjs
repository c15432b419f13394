// What a mock saw and did, as lines of JSON in a file: it outlives the process, however that ends.
import { appendFileSync } from 'node:fs';

/**
 * @param {string | undefined} path without one, nothing is kept
 * @returns {(event: string, details?: object) => void}
 */
export function openJournal(path) {
  if (path === undefined) return () => undefined;
  return (event, details = {}) => {
    // One write with O_APPEND each: lines of several processes do not mix.
    appendFileSync(path, `${JSON.stringify({ event, pid: process.pid, ...details })}\n`);
  };
}
