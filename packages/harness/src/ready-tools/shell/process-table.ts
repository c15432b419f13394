import { readdirSync, readFileSync } from 'node:fs';

/** One line of the system's table of processes. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since the system started; with the pid it names a process for ever. */
  readonly startedAt: number;
}

/**
 * Every process that lives, from /proc; zombies are left out, since they only wait to be forgotten. Synchronous: /proc
 * is memory, about 10 µs a process, and what was read must still be true when signals are sent.
 */
export function livingProcesses(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const entry = Number.isInteger(pid) ? livingProcess(pid) : undefined;
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Undefined if it does not live. */
function livingProcess(pid: number): ProcessEntry | undefined {
  const fields = statFields(pid);
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? undefined : entryOf(pid, fields);
}

/** When a process started, also if it has ended and was not waited for yet. */
export function startOf(pid: number): number | undefined {
  const fields = statFields(pid);
  return fields === undefined ? undefined : entryOf(pid, fields).startedAt;
}

/** Whether a process was started with an environment that has this entry; false if that cannot be read. */
export function hasInEnvironment(pid: number, entry: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${entry}\0`);
  } catch {
    return false;
  }
}

function statFields(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before it is in brackets and may hold anything, brackets and spaces too.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function entryOf(pid: number, fields: readonly string[]): ProcessEntry {
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startedAt: Number(fields[19]),
  };
}
