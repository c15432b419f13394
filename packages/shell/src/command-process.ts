import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { defaultLauncher } from './default-launcher.js';
import { familyEnder } from './family-ender.js';
import { familyRegistry } from './family-registry.js';
import { watchFamilies } from './family-watch.js';
import type { LaunchedProcess, Launcher, LaunchRequest, ProcessExit } from './launcher.js';
import { LostCommandError } from './lost-command.js';
import { MARKER_NAME, ProcessFamily } from './process-family.js';
import { environmentValue, livingProcesses } from './process-table.js';

export interface CommandProcessOptions extends Omit<LaunchRequest, 'merged'> {
  /** Marks what comes from it; no other command has it. */
  readonly id: string;
  readonly onStdout: (chunk: Buffer) => void;
  /** Undefined: errors go where the output goes. */
  readonly onStderr?: (chunk: Buffer) => void;
  /** See `ProcessFamilyOptions`. Default false. */
  readonly claimsOrphans?: boolean | undefined;
  /** Default one for all commands of this process. */
  readonly launcher?: Launcher | undefined;
}

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
  #exit: ProcessExit | undefined;
  readonly #stopWatch: () => void;

  private constructor(launched: LaunchedProcess, options: CommandProcessOptions) {
    const { pid: leader, bornAt, pipes, heir, stdout, stderr } = launched;
    const { id, claimsOrphans = false } = options;
    this.family = new ProcessFamily({ leader, id, claimsOrphans, heir, bornAt, pipes });
    familyRegistry.add(this.family);
    this.#streams = stderr === undefined ? [stdout] : [stdout, stderr];
    stdout.on('data', options.onStdout);
    if (options.onStderr !== undefined) stderr?.on('data', options.onStderr);
    this.exited = launched.exit.then((exit) => {
      this.#exit = exit;
      this.#stopWatch();
    });
    // Ended commands are kept until their turn is over: they hold nothing that they do not need.
    this.drained = Promise.all(this.#streams.map(closed)).then(() => {
      this.family.pipes = [];
      this.#streams = [];
    });
    this.#stopWatch = watchFamilies();
  }

  /** @throws LostCommandError, or what the system throws if it cannot be started. */
  static async start(options: CommandProcessOptions): Promise<CommandProcess> {
    const { shell, shellName, text, cwd, id, onStderr, launcher = defaultLauncher } = options;
    const env = { ...options.env, [MARKER_NAME]: id };
    const merged = onStderr === undefined;
    try {
      return new CommandProcess(await launcher.launch({ shell, shellName, text, cwd, env, merged }), options);
    } catch (error) {
      if (error instanceof LostCommandError) await endUntold(id);
      throw error;
    }
  }

  /** True if it will never be known how it ended. */
  get isLost(): boolean {
    return this.#exit?.kind === 'lost';
  }

  /** Undefined while it runs, if it was ended by a signal, and if it is lost. */
  get exitCode(): number | undefined {
    return this.#exit?.kind === 'code' ? this.#exit.code : undefined;
  }

  /** The number of the signal that ended it. */
  get exitSignal(): number | undefined {
    return this.#exit?.kind === 'signal' ? this.#exit.signal : undefined;
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
    this.#stopWatch();
    for (const stream of this.#streams) stream.destroy();
  }
}

function closed(stream: Readable): Promise<void> {
  stream.on('error', () => undefined);
  return new Promise((resolve) => void stream.once('close', resolve));
}

/** Ends those who have the marker of a command whose pid was never told. */
async function endUntold(id: string): Promise<void> {
  const first = livingProcesses().find(({ pid }) => environmentValue(pid, MARKER_NAME) === id);
  if (first === undefined) return;
  const known = {
    leader: first.session,
    id,
    bornAt: first.startedAt,
    claimsOrphans: false,
    heir: undefined,
    pipes: [],
  };
  const family = new ProcessFamily(known);
  familyRegistry.add(family);
  await familyEnder.end(family, 0);
}
