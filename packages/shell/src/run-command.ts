import { constants } from 'node:os';
import { CommandProcess } from './command-process.js';
import { familyEnder } from './family-ender.js';
import type { Launcher } from './launcher.js';
import { startTimer, within } from './long-timer.js';
import { LOST_EXIT_CODE, LOST_LINE, LostCommandError } from './lost-command.js';

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
  /** Default one for all commands of this process. */
  readonly launcher?: Launcher;
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

const SIGNAL_NAMES: ReadonlyMap<number, NodeJS.Signals> = new Map(
  // The first of several names of one signal.
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name as NodeJS.Signals]),
);

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
  const running = await start(command);
  if (running === undefined) {
    command.onOutput(Buffer.from(LOST_LINE));
    const cause = command.signal.aborted ? 'aborted' : 'exited';
    return { cause, exitCode: LOST_EXIT_CODE, exitSignal: null, leftBehind: 0, survivors: 0 };
  }
  try {
    return await follow(running, command);
  } finally {
    running.close();
  }
}

/** Undefined if nobody can tell whether it was started. */
async function start(command: Command): Promise<CommandProcess | undefined> {
  const starting = CommandProcess.start({
    shell: command.shell,
    shellName: command.shell,
    text: command.text,
    cwd: command.cwd,
    env: command.env,
    id: command.id,
    onStdout: command.onOutput,
    launcher: command.launcher,
  });
  return starting.catch((error: unknown) => {
    if (error instanceof LostCommandError) return undefined;
    throw error;
  });
}

async function follow(running: CommandProcess, command: Command): Promise<CommandEnd> {
  const cause = await firstEnd(running.exited, command);
  if (cause === 'exited') await within(DRAIN_MS, running.drained);
  const ended = await familyEnder.end(running.family, command.killGraceMs);
  await within(REAP_MS, running.exited);
  await within(DRAIN_MS, running.drained);
  if (running.isLost) command.onOutput(Buffer.from(LOST_LINE));
  return {
    cause,
    ...exitOf(running),
    leftBehind: cause === 'exited' ? ended.found : 0,
    survivors: ended.left,
  };
}

function exitOf({ isLost, exitCode, exitSignal }: CommandProcess): Pick<CommandEnd, 'exitCode' | 'exitSignal'> {
  if (isLost) return { exitCode: LOST_EXIT_CODE, exitSignal: null };
  if (exitSignal === undefined) return { exitCode: exitCode ?? null, exitSignal: null };
  const name = SIGNAL_NAMES.get(exitSignal);
  // Those without a name are told as shells tell them.
  return name === undefined ? { exitCode: 128 + exitSignal, exitSignal: null } : { exitCode: null, exitSignal: name };
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
