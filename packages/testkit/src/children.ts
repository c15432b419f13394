import { spawn, type ChildProcess } from 'node:child_process';

/**
 * What must not outlive a test file: processes (ended by group) and things with a stop of their own.
 *
 * A jest test sees a copy of `process`, so an 'exit' listener set here would never be called. Two nets
 * instead: an `afterAll` hook for every way a test file can end, and a shell that reads our process ids
 * from a pipe and kills what is left when that pipe closes, which also happens when we are killed.
 */
const groups = new Set<number>();
const closers = new Set<() => Promise<void> | void>();
let guard: ChildProcess | undefined;

const GUARD_SCRIPT = `
left=
while read -r word pid; do
  case $word in
    add) left="$left $pid" ;;
    drop) rest=; for one in $left; do [ "$one" = "$pid" ] || rest="$rest $one"; done; left=$rest ;;
  esac
done
for one in $left; do kill -s KILL -- "-$one"; done
`;

function tellGuard(word: 'add' | 'drop', pid: number): void {
  if (guard === undefined) {
    // A session of its own: an interrupt from the terminal must not end the guard before it has read the end of its pipe.
    guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
    guard.on('error', () => undefined);
    guard.stdin?.on('error', () => undefined);
    guard.unref();
    (guard.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  }
  guard.stdin?.write(`${word} ${String(pid)}\n`);
}

/** Remembers a process group (its leader's id) until {@link forgetGroup}; it is killed if the tests end first. */
export function rememberGroup(pid: number): void {
  groups.add(pid);
  tellGuard('add', pid);
}

/** To be called when the leader has ended and its group has been signalled. */
export function forgetGroup(pid: number): void {
  if (groups.delete(pid)) tellGuard('drop', pid);
}

/** Sends a signal to every process of a group; false when none is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Registers a clean-up for the end of the test file. Returns a function that takes it back. */
export function onTestsEnd(close: () => Promise<void> | void): () => void {
  closers.add(close);
  return () => {
    closers.delete(close);
  };
}

/** Ends everything that is still registered. Safe to call twice; one failing clean-up does not stop the others. */
export async function endEverything(): Promise<void> {
  const closing = [...closers];
  closers.clear();
  await Promise.allSettled(closing.map(async (close) => close()));
  for (const pid of groups) {
    signalGroup(pid, 'SIGKILL');
    forgetGroup(pid);
  }
  guard?.stdin?.end();
  guard = undefined;
}

// Hooks may only be declared while a test file is being loaded, which is when it imports this module.
const hooks = globalThis as { afterAll?: (run: () => Promise<void>, timeoutMs?: number) => void };
hooks.afterAll?.(endEverything, 30_000);
