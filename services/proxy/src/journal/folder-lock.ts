import { linkSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { codeOf } from './error-code.js';

/** Who holds a folder: a process is known by its id and by when it began, since ids are used again. */
interface Holder {
  readonly pid: number;
  /** Clock ticks from boot to the process's start; null where the platform does not say. */
  readonly startTicks: string | null;
  readonly bootId: string | null;
  /** Of the container: ids of another one mean nothing here. */
  readonly pidNamespace: string | null;
}

export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
}

/**
 * Keeps a folder for one process: a file that names its holder, made whole by a link, so that nobody ever reads half
 * of it. One whose holder has ended is taken over. What it cannot see: a holder in another container that shares the
 * folder counts as ended.
 */
export class FolderLock {
  readonly #path: string;
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /** @throws FolderInUseError if a living process holds it. */
  static acquire(folder: string): FolderLock {
    const path = join(folder, 'lock');
    // The id tells this lock from any other, whoever holds it.
    const text = JSON.stringify({ ...ownIdentity(), id: randomUUID() });
    const draft = `${path}.${String(process.pid)}.${randomUUID()}`;
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    try {
      for (let tries = 0; tries < 5; tries += 1) {
        if (tryLink(draft, path)) return new FolderLock(path, text);
        takeAway(path, folder);
      }
      throw inUse(folder);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  release(): void {
    if (readText(this.#path) === this.#text) rmSync(this.#path, { force: true });
  }
}

/** @returns false if there is a lock already. */
function tryLink(draft: string, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a lock whose holder has ended. Two that do so at once must not remove the lock that one of them then made. */
function takeAway(path: string, folder: string): void {
  const found = readText(path);
  if (found === undefined) return;
  if (isAlive(found)) throw inUse(folder);
  const aside = `${path}.stale.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  // Another took the stale one away first, and this is its new one: give it back. It stays held if someone slipped in.
  if (readText(aside) !== found) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function isAlive(text: string): boolean {
  const holder = parseHolder(text);
  if (holder === undefined) return false;
  const own = ownIdentity();
  if (holder.bootId !== own.bootId || holder.pidNamespace !== own.pidNamespace) return false;
  const startTicks = startTicksOf(holder.pid);
  if (startTicks !== null) return startTicks === holder.startTicks;
  return holder.startTicks === null && answersSignals(holder.pid);
}

function parseHolder(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<Holder> | null;
    return typeof holder?.pid === 'number'
      ? { startTicks: null, bootId: null, pidNamespace: null, ...holder, pid: holder.pid }
      : undefined;
  } catch {
    return undefined;
  }
}

function ownIdentity(): Holder {
  return {
    pid: process.pid,
    startTicks: startTicksOf(process.pid),
    bootId: readText('/proc/sys/kernel/random/boot_id')?.trim() ?? null,
    pidNamespace: readLink('/proc/self/ns/pid'),
  };
}

/** Field 22 of `stat`; the second, the name in parentheses, may hold anything. A zombie has ended. */
function startTicksOf(pid: number): string | null {
  const stat = readText(`/proc/${String(pid)}/stat`);
  if (stat === undefined) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : (fields[19] ?? null);
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function inUse(folder: string): FolderInUseError {
  return new FolderInUseError(`the state folder ${folder} is in use by another proxy`);
}
