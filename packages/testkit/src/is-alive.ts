import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended and only waits for its parent to ask how does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // "PID (NAME) STATE ...": the name may contain anything, so from its last bracket on.
    const status = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return !/^\) [ZX]/u.test(status.slice(status.lastIndexOf(')')));
  } catch {
    // No /proc on this system (it answered the signal), or gone in between: the next look tells.
    return true;
  }
}
