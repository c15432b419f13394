import { readdirSync, readFileSync } from 'node:fs';

/** Variable by which the processes of a test are found again, wherever they have gone. */
export const MARKER = 'PARLEY_MOCK_RUN';

/**
 * Pids of living processes that have the mark in their environment.
 *
 * @param {string} mark
 * @returns {number[]}
 */
export function markedProcesses(mark) {
  const wanted = `${MARKER}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && environmentOf(pid).includes(wanted) && !isDead(pid));
}

/** Ends what a failed test has left. */
export function killMarked(mark) {
  for (const pid of markedProcesses(mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

/** The environment of one that is being ended can still be read. */
function isDead(pid) {
  try {
    return /^[ZX]/u.test(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1) ?? 'X');
  } catch {
    return true;
  }
}
