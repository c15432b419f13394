import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { endFamily } from './end-family.js';
import { processFamily, type ProcessFamily } from './process-family.js';
import { runningFamilies } from './running-families.js';

export interface Command {
  readonly shell: string;
  readonly text: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** An entry of `env`, `NAME=value`, that no other command has. */
  readonly marker: string;
  readonly timeoutMs: number;
  readonly killGraceMs: number;
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: Buffer) => void;
}

export interface CommandEnd {
  readonly cause: 'exited' | 'timed_out' | 'aborted';
  readonly exitCode: number | null;
  readonly exitSignal: NodeJS.Signals | null;
  /** Processes that the command had left behind and that were ended. */
  readonly leftBehind: number;
  /** Processes that could not be ended. */
  readonly survivors: number;
}

/** How long output may still come after the shell has exited. Somebody in the background may hold the pipe for ever. */
const DRAIN_MS = 250;

/** How long the exit of a shell that was killed is waited for. */
const REAP_MS = 1_000;

/**
 * Runs a command in a session of its own, without input, and resolves when it and everything that it started has
 * ended. Output and errors come through one pipe, so in the order in which they were written.
 *
 * @throws what the system throws if the shell cannot be started.
 */
export async function runCommand(command: Command): Promise<CommandEnd> {
  command.signal.throwIfAborted();
  const child = spawn(command.shell, ['-c', 'exec "$0" -c "$1" 2>&1', command.shell, command.text], {
    cwd: command.cwd,
    env: { ...command.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (child.pid === undefined) throw await failureOf(child);
  const family = processFamily(child.pid, command.marker);
  runningFamilies.add(family);
  try {
    return await follow(child, family, command);
  } finally {
    runningFamilies.delete(family);
    child.stdout.destroy();
  }
}

async function follow(child: ChildProcess, family: ProcessFamily, command: Command): Promise<CommandEnd> {
  const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const drained = new Promise<void>((resolve) => void child.stdout?.once('close', resolve));
  child.stdout?.on('data', command.onOutput);
  child.stdout?.on('error', () => undefined);
  child.on('error', () => undefined);

  const cause = await firstEnd(exited, command);
  if (cause === 'exited') await within(DRAIN_MS, drained);
  const ended = await endFamily(family, command.killGraceMs);
  await within(REAP_MS, exited);
  await within(DRAIN_MS, drained);
  return {
    cause,
    exitCode: child.exitCode,
    exitSignal: child.signalCode,
    leftBehind: cause === 'exited' ? ended.found : 0,
    survivors: ended.left,
  };
}

/** What comes first: the exit, the end of the time, or the abort. */
async function firstEnd(exited: Promise<void>, { signal, timeoutMs }: Command): Promise<CommandEnd['cause']> {
  const { promise, resolve } = Promise.withResolvers<CommandEnd['cause']>();
  const onAbort = () => resolve('aborted');
  const timer = setTimeout(() => resolve('timed_out'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  void exited.then(() => resolve('exited'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function within(timeoutMs: number, event: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  await Promise.race([event, promise]);
  clearTimeout(timer);
}

async function failureOf(child: ChildProcess): Promise<unknown> {
  const [error] = (await once(child, 'error')) as unknown[];
  return error;
}
