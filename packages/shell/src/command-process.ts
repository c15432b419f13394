import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { familyRegistry } from './family-registry.js';
import { MARKER_NAME, ProcessFamily } from './process-family.js';

export interface CommandProcessOptions {
  /** Path of the program. */
  readonly file: string;
  /** The name that it gets. Default `file`. */
  readonly argv0?: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks what comes from it; no other command has it. */
  readonly id: string;
  readonly onStdout: (chunk: Buffer) => void;
  /** Undefined: its standard error goes nowhere. */
  readonly onStderr?: (chunk: Buffer) => void;
  /** See `ProcessFamilyOptions`. Default false. */
  readonly claimsOrphans?: boolean;
}

/** First look at what a command started, in milliseconds; then at growing distances, while it runs. */
const FIRST_LOOK_MS = 100;
const LOOK_GROWTH = 4;
const LONGEST_LOOK_MS = 30_000;

/**
 * A process in a session of its own, without input and terminal. Whoever makes one must end its family, also if it has
 * exited: only then is it forgotten.
 */
export class CommandProcess {
  readonly family: ProcessFamily;
  /** Resolves when the process itself has ended. */
  readonly exited: Promise<void>;
  /** Resolves when nobody holds its pipes any more. */
  readonly drained: Promise<void>;
  #streams: readonly Readable[];
  #exitCode: number | null = null;
  #exitSignal: NodeJS.Signals | null = null;
  #lookTimer: NodeJS.Timeout | undefined;

  private constructor(child: ChildProcess, pid: number, options: CommandProcessOptions) {
    this.family = new ProcessFamily({ leader: pid, id: options.id, claimsOrphans: options.claimsOrphans ?? false });
    familyRegistry.add(this.family);
    this.#streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    child.stdout?.on('data', options.onStdout);
    if (options.onStderr !== undefined) child.stderr?.on('data', options.onStderr);
    child.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exitCode = code;
        this.#exitSignal = signal;
        clearTimeout(this.#lookTimer);
        resolve();
      });
    });
    // Ended commands are kept until their turn is over: they hold nothing that they do not need.
    this.drained = Promise.all(this.#streams.map(closed)).then(() => {
      this.family.pipes = [];
      this.#streams = [];
    });
    this.#watch();
  }

  /**
   * The process is started within this call.
   *
   * @throws what the system throws if it cannot be started.
   */
  static async start(options: CommandProcessOptions): Promise<CommandProcess> {
    const child = spawn(options.file, [...options.args], spawnOptions(options));
    if (child.pid !== undefined) return new CommandProcess(child, child.pid, options);
    child.stdout?.destroy();
    child.stderr?.destroy();
    const [error] = (await once(child, 'error')) as unknown[];
    throw error;
  }

  /** Null while it runs and if it was ended by a signal. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  get exitSignal(): NodeJS.Signals | null {
    return this.#exitSignal;
  }

  /** As shells count: the exit code, or the negative number of the signal. Undefined while it runs. */
  get status(): number | undefined {
    const signal = this.exitSignal;
    return signal === null ? (this.exitCode ?? undefined) : -constants.signals[signal];
  }

  /** Output is read and dropped from now on, and keeps nobody waiting: neither who writes it nor the end of this process. */
  ignoreOutput(): void {
    for (const stream of this.#streams) {
      stream.removeAllListeners('data');
      stream.resume();
      if (stream instanceof Socket) stream.unref();
    }
  }

  /** To be called when its family was ended. */
  close(): void {
    clearTimeout(this.#lookTimer);
    for (const stream of this.#streams) stream.destroy();
  }

  /** Those who lose their parent later are known by then. */
  #watch(): void {
    let pause = FIRST_LOOK_MS;
    const schedule = () => {
      this.#lookTimer = setTimeout(() => {
        familyRegistry.remember();
        pause = Math.min(pause * LOOK_GROWTH, LONGEST_LOOK_MS);
        schedule();
      }, pause).unref();
    };
    schedule();
  }
}

function spawnOptions({ argv0, cwd, env, id, onStderr }: CommandProcessOptions): SpawnOptions {
  return {
    ...(argv0 !== undefined && { argv0 }),
    cwd,
    env: { ...env, [MARKER_NAME]: id },
    detached: true,
    stdio: ['ignore', 'pipe', onStderr === undefined ? 'ignore' : 'pipe'],
  };
}

function closed(stream: Readable): Promise<void> {
  stream.on('error', () => undefined);
  return new Promise((resolve) => void stream.once('close', resolve));
}
