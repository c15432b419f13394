import type { Readable, Writable } from 'node:stream';
import { safeDiagnostic } from '@parley/harness';
import {
  ProgramStartError,
  startProgram,
  within,
  type EndTimes,
  type FamilyEnd,
  type ProgramExit,
  type StartedProgram,
} from '@parley/shell';
import { checkWorkingFolder } from './check-working-folder.js';
import { childEnvironment, type ChildEnvironmentOptions } from './child-environment.js';
import { ChildStartError } from './child-errors.js';
import { HiddenValues } from './hidden-values.js';
import { StderrTail } from './stderr-tail.js';

export interface StartChildOptions extends ChildEnvironmentOptions {
  /** A program, never a line for a shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Absolute. */
  readonly cwd: string;
  /** Aborted before the start, nothing is started. It does not end what runs. */
  readonly signal?: AbortSignal | undefined;
  /** Kept of the child's errors. Default 2,048. */
  readonly maxStderrBytes?: number | undefined;
}

const DEFAULT_STDERR_BYTES = 2_048;

/** How long the last output of a child that ended is waited for: somebody else may hold its pipes for ever. */
const LAST_OUTPUT_MS = 200;

/**
 * Starts a child with an environment of its own.
 *
 * @throws WorkingFolderError
 * @throws ChildStartError if there is no such program, or it may not be run.
 * @throws the reason of the signal if that was aborted before.
 */
export async function startChild(options: StartChildOptions): Promise<ChildProgram> {
  const { command, args = [], cwd, signal } = options;
  signal?.throwIfAborted();
  await checkWorkingFolder(cwd);
  const env = childEnvironment(options);
  try {
    const program = await startProgram({ command, args, cwd, env, signal });
    return new ChildProgram(program, options);
  } catch (error) {
    if (!(error instanceof ProgramStartError)) throw error;
    throw new ChildStartError(error.message, error.code);
  }
}

/** A child that runs. Whoever has it must `end` it, also if it has exited by itself. */
export class ChildProgram {
  readonly pid: number;
  readonly stdin: Writable;
  /** Not read before somebody reads. */
  readonly stdout: Readable;
  /**
   * Resolves when the child has exited and its last output was read, by whoever reads its `stdout`; at most 200 ms after
   * its exit, since somebody else may hold its pipes.
   */
  readonly exited: Promise<ProgramExit>;
  /** Takes out of a text what the child was given: for what it says elsewhere. */
  readonly safeText: (text: string) => string;
  readonly #program: StartedProgram;
  readonly #stderr: StderrTail;

  constructor(program: StartedProgram, options: StartChildOptions) {
    const { args, env, parentEnv = process.env, forwardEnv = [], maxStderrBytes = DEFAULT_STDERR_BYTES } = options;
    const forwarded = forwardEnv.map((name) => [name, parentEnv[name] ?? ''] as const);
    const hidden = new HiddenValues({ args, env: { ...Object.fromEntries(forwarded), ...env } });
    this.safeText = (text) => hidden.hide(text);
    this.#program = program;
    this.#stderr = new StderrTail(program.stderr, maxStderrBytes, hidden);
    this.pid = program.pid;
    this.stdin = program.stdin;
    this.stdout = program.stdout;
    this.exited = program.exited.then(async (exit) => {
      await within(LAST_OUTPUT_MS, program.closed);
      return exit;
    });
  }

  /** How it ended; undefined while it runs. */
  get exit(): ProgramExit | undefined {
    return this.#program.exit;
  }

  /** The last of what it wrote to its standard error: nothing of its arguments and variables, nothing that steers a terminal. */
  get stderrTail(): string {
    return this.#stderr.text;
  }

  /** For people and models, such as `the child exited with code 3: <the last of its errors>`. At most 4,096 bytes. */
  describeExit(): string {
    const tail = this.stderrTail;
    return safeDiagnostic(`the child ${wordsFor(this.exit)}${tail === '' ? '' : `: ${tail}`}`);
  }

  /** See `StartedProgram.end`. Idempotent; never rejects. */
  end(times?: EndTimes): Promise<FamilyEnd> {
    return this.#program.end(times);
  }
}

function wordsFor(exit: ProgramExit | undefined): string {
  if (exit === undefined) return 'is running';
  return exit.signal === null ? `exited with code ${exit.code ?? 'unknown'}` : `was killed by ${exit.signal}`;
}
