import { CommandProcess } from './command-process.js';
import { familyEnder } from './family-ender.js';
import { startTimer, within } from './long-timer.js';

export interface Command {
  /** Path of a shell that takes `-c`. */
  readonly shell: string;
  readonly text: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks what comes from the command; no other command has it. */
  readonly id: string;
  /** Infinity: no limit. */
  readonly timeoutMs: number;
  /** Between the polite end and the hard one. */
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
  const running = await CommandProcess.start({
    file: command.shell,
    args: ['-c', 'exec "$0" -c "$1" 2>&1', command.shell, command.text],
    cwd: command.cwd,
    env: command.env,
    id: command.id,
    onStdout: command.onOutput,
  });
  try {
    return await follow(running, command);
  } finally {
    running.close();
  }
}

async function follow(running: CommandProcess, command: Command): Promise<CommandEnd> {
  const cause = await firstEnd(running.exited, command);
  if (cause === 'exited') await within(DRAIN_MS, running.drained);
  const ended = await familyEnder.end(running.family, command.killGraceMs);
  await within(REAP_MS, running.exited);
  await within(DRAIN_MS, running.drained);
  return {
    cause,
    exitCode: running.exitCode,
    exitSignal: running.exitSignal,
    leftBehind: cause === 'exited' ? ended.found : 0,
    survivors: ended.left,
  };
}

/** What comes first: the exit, the end of the time, or the abort. */
async function firstEnd(exited: Promise<void>, { signal, timeoutMs }: Command): Promise<CommandEnd['cause']> {
  const { promise, resolve } = Promise.withResolvers<CommandEnd['cause']>();
  const onAbort = () => resolve('aborted');
  const stopTimer = startTimer(timeoutMs, () => resolve('timed_out'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  void exited.then(() => resolve('exited'));
  try {
    return await promise;
  } finally {
    stopTimer();
    signal.removeEventListener('abort', onAbort);
  }
}
