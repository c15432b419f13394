import { randomUUID } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import { CommandOutput, type CommandOutputResult } from './command-output.js';
import { CommandProcess } from './command-process.js';
import { familyEnder, type FamilyEnd } from './family-ender.js';
import { familyRegistry } from './family-registry.js';
import { within } from './long-timer.js';
import type { Launcher } from './launcher.js';
import { LOST_EXIT_CODE, LOST_LINE, LostCommandError } from './lost-command.js';
import type { OutputChunk } from './output-chunks.js';
import { startFailureReason } from './start-failure.js';

export interface StartCommandOptions {
  /** Path of a shell that takes `-c`. */
  readonly shell: string;
  /** The name that the shell gets as `$0`. Default its path. */
  readonly shellName?: string;
  readonly text: string;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Default 3,600,000; Infinity: no limit. */
  readonly timeoutMs?: number;
  /** Between the polite end and the hard one, in milliseconds. Default 2,000. */
  readonly killGraceMs?: number;
  /** Kept of each stream, half from its beginning, half from its end. Default 1 MiB. */
  readonly maxStreamBytes?: number;
  /** Output while it comes: at most every 50 ms, at most 64 KiB of a stream each time. Must not throw. */
  readonly onChunk?: (chunk: OutputChunk) => void;
  /** See `ProcessFamilyOptions`. Default false. */
  readonly claimsOrphans?: boolean;
  /** Default one for all commands of this process. */
  readonly launcher?: Launcher;
}

export interface CommandResult extends CommandOutputResult {
  /**
   * Of the shell; the negative number of the signal that ended it; undefined when its time was over; 126 if it could not
   * be started, or if it is not known how it ended.
   */
  readonly exitCode: number | undefined;
  readonly timedOut: boolean;
}

export interface StartedCommand {
  /**
   * Comes when the shell has ended, and at most one second later if somebody still holds its pipes; when the time was
   * over, as soon as everybody has ended. Never rejects: a command that cannot be started is one with exit code 126.
   */
  readonly result: Promise<CommandResult>;
  /**
   * Ends everything that the command started, also when the shell ended long ago; then the command is forgotten. Every
   * command has to be ended. Commands that are ended together share the looks at the table of processes.
   *
   * @param graceMs Between the polite end and the hard one. Default that of the command. Asked again, the shorter counts.
   * @param killWaitMs How long after the hard end it is given up. Default 3,000.
   */
  end(graceMs?: number, killWaitMs?: number): Promise<FamilyEnd>;
}

const DEFAULT_TIMEOUT_MS = 3_600_000;
const DEFAULT_KILL_GRACE_MS = 2_000;
const DEFAULT_STREAM_BYTES = 1_048_576;

/** How long output may still come after the shell has exited, while somebody holds the pipes. */
const OUTPUT_GRACE_MS = 1_000;

/** Pipes of a shell that leaves nobody behind are closed by then. */
const CLOSE_MS = 15;

/** How long the exit of a shell that was killed, and its last output, are waited for. */
const REAP_MS = 1_000;

/** What a shell gives that cannot run a command. */
const CANNOT_START = 126;

const NOBODY: FamilyEnd = { found: 0, left: 0 };

/**
 * Runs a command in a session of its own, without input, and tells its result when its shell has ended. What it left
 * in the background lives on until `end`.
 */
export function startCommand(options: StartCommandOptions): StartedCommand {
  return new ShellCommand(options);
}

class ShellCommand implements StartedCommand {
  readonly result: Promise<CommandResult>;
  readonly #options: StartCommandOptions;
  readonly #output: CommandOutput;
  /** Undefined if it could not be started. */
  readonly #running: Promise<CommandProcess | undefined>;
  /** Resolves when its family was ended: nobody is left whose output would be worth a wait. */
  readonly #ended = Promise.withResolvers<undefined>();

  constructor(options: StartCommandOptions) {
    this.#options = options;
    this.#output = new CommandOutput(options.maxStreamBytes ?? DEFAULT_STREAM_BYTES, options.onChunk);
    const starting = this.#start();
    this.#running = starting.catch(() => undefined);
    this.result = starting.then(
      (running) => this.#follow(running),
      (error: unknown) => failedStart(error, options.cwd),
    );
  }

  async end(graceMs = this.#options.killGraceMs ?? DEFAULT_KILL_GRACE_MS, killWaitMs?: number): Promise<FamilyEnd> {
    const running = await this.#running;
    if (running === undefined) return NOBODY;
    const ended = await familyEnder.end(running.family, graceMs, killWaitMs);
    this.#ended.resolve(undefined);
    // The result is to have the last output.
    await within(REAP_MS, this.result);
    running.close();
    return ended;
  }

  #start(): Promise<CommandProcess> {
    const { shell, shellName = shell, text, cwd, env, claimsOrphans, launcher } = this.#options;
    const { onStdout, onStderr } = this.#output;
    const id = randomUUID();
    return CommandProcess.start({ shell, shellName, text, cwd, env, claimsOrphans, launcher, id, onStdout, onStderr });
  }

  async #follow(running: CommandProcess): Promise<CommandResult> {
    const timedOut = !(await within(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS, running.exited));
    if (timedOut || running.isLost) await this.#endInTime(running);
    else await outputAfterExit(running, this.#ended.promise);
    if (running.isLost) this.#output.onStderr(Buffer.from(LOST_LINE));
    const output = this.#output.finish();
    running.ignoreOutput();
    return { ...output, exitCode: timedOut ? undefined : statusOf(running), timedOut };
  }

  async #endInTime(running: CommandProcess): Promise<void> {
    await familyEnder.end(running.family, this.#options.killGraceMs ?? DEFAULT_KILL_GRACE_MS);
    await within(REAP_MS, Promise.all([running.exited, running.drained]));
  }
}

function statusOf({ isLost, exitCode, exitSignal }: CommandProcess): number | undefined {
  if (isLost) return LOST_EXIT_CODE;
  return exitSignal === undefined ? exitCode : -exitSignal;
}

/** Nothing that the shell itself has written is lost: it is in the pipes when it has ended. */
async function outputAfterExit(running: CommandProcess, ended: Promise<undefined>): Promise<void> {
  if (await within(CLOSE_MS, running.drained)) return;
  // A busy process has not read yet that they are closed.
  if (await Promise.race([nextRound(false), running.drained.then(() => true)])) return;
  // Somebody in the background holds the pipes, by which it is known from now on, whatever it does to hide.
  familyRegistry.remember();
  await within(OUTPUT_GRACE_MS - CLOSE_MS, Promise.race([running.drained, ended]));
  // After a stall the time is over before anything was read. Reading comes between timers and this.
  await nextRound();
}

function failedStart(error: unknown, cwd: string): CommandResult {
  const isLost = error instanceof LostCommandError;
  const stderr = isLost ? LOST_LINE : `error: the command couldn't start: ${startFailureReason(error, cwd)}`;
  const stderrBytes = Buffer.byteLength(stderr);
  return { exitCode: CANNOT_START, stdout: '', stderr, stdoutBytes: 0, stderrBytes, truncated: false, timedOut: false };
}
