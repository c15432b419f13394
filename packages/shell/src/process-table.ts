import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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

/** A process, also if it has ended and was not waited for yet. Undefined where there is no /proc. */
export function processEntry(pid: number): ProcessEntry | undefined {
  const fields = statFields(pid);
  return fields === undefined ? undefined : entryOf(pid, fields);
}

/** A variable of the environment that a process was started with; undefined if there is none or it cannot be read. */
export function environmentValue(pid: number, name: string): string | undefined {
  try {
    const environment = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
    const start = environment.indexOf(`\0${name}=`);
    if (start === -1) return undefined;
    const from = start + name.length + 2;
    const end = environment.indexOf('\0', from);
    return environment.slice(from, end === -1 ? undefined : end);
  } catch {
    return undefined;
  }
}

/** What a descriptor of a process is, such as `socket:[1234]`; undefined if it cannot be read. */
export function descriptorTarget(pid: number, descriptor: number | string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

/** What all descriptors of a process are. */
export function descriptorTargets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => descriptorTarget(pid, descriptor) ?? []);
  } catch {
    return [];
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
