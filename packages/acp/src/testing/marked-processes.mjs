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
  return processesWith((pid) => pid !== process.pid && procFields(pid, 'environ').includes(wanted) && !isDead(pid));
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

/**
 * Pids of all that are in /proc and fit.
 *
 * @param {(pid: number) => boolean} fits
 * @returns {number[]}
 */
export function processesWith(fits) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter(fits);
}

/**
 * What a file of /proc lists, such as the words of a command line; nothing if it cannot be read.
 *
 * @param {number} pid
 * @param {'environ' | 'cmdline'} file
 * @returns {string[]}
 */
export function procFields(pid, file) {
  return procFile(pid, file)?.split('\0') ?? [];
}

/** The environment of one that is being ended can still be read. */
function isDead(pid) {
  const stat = procFile(pid, 'stat');
  return stat === undefined || /^[ZX]/u.test(stat.split(') ').at(-1) ?? 'X');
}

function procFile(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return undefined;
  }
}
