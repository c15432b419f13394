import type { Logger } from '@parley/service-kit';
import { findShell, shellEnvironment, startCommand, type FamilyEnd, type StartedCommand } from '@parley/shell';
import type { BashResult } from '../domain/facts.js';
import type { CommandRunner, OutputChunk, RunningCommand } from './action-types.js';
import { withoutProxySettings } from './command-env.js';

export interface CommandRunnerOptions {
  /** Where commands run. */
  readonly cwd: string;
  /** Names of variables that commands get from `parentEnv`; nothing else passes, names in `PROXY_` never. */
  readonly passedEnv: readonly string[];
  /** Further variables, see `ownCommandEnv`. */
  readonly ownEnv: Readonly<Record<string, string>>;
  /** Default the environment of this process. */
  readonly parentEnv?: Readonly<Record<string, string | undefined>>;
  /** Kept of each stream, half from its beginning, half from its end. Default 1 MiB. */
  readonly maxStreamBytes?: number;
  /** Between SIGTERM and SIGKILL, in milliseconds. Default 2,000. */
  readonly killGraceMs?: number;
  /**
   * Whether processes that come to the proxy as their parent's heir are taken for its commands' orphans. Default: if it
   * is PID 1. Set it for a proxy that is a subreaper; it must start no other detached processes then.
   */
  readonly claimsOrphans?: boolean;
  readonly logger: Logger;
}

/** Part of the time of `close` in which processes may end by themselves. */
const POLITE_SHARE = 0.6;

/** Runs commands under `bash -c`, or `sh -c` where no bash is on the search path. */
export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  return new ShellRunner(options);
}

class ShellRunner implements CommandRunner {
  readonly isBash: boolean;
  readonly #options: CommandRunnerOptions;
  readonly #shell: { readonly shell: string; readonly shellName: string };
  readonly #env: Readonly<Record<string, string>>;
  /** Not ended yet; most of them have finished. */
  readonly #commands = new Set<StartedCommand>();
  #isClosed = false;

  constructor(options: CommandRunnerOptions) {
    const { parentEnv = process.env, passedEnv, ownEnv } = options;
    this.#options = options;
    this.#env = shellEnvironment(parentEnv, withoutProxySettings(passedEnv), ownEnv);
    const { name, path } = findShell(this.#env['PATH']);
    this.isBash = name === 'bash';
    this.#shell = { shell: path, shellName: name };
  }

  start(text: string, options: Parameters<CommandRunner['start']>[1]): RunningCommand {
    if (this.#isClosed) return notStarted('the proxy is stopping');
    const { cwd, maxStreamBytes, killGraceMs, claimsOrphans = process.pid === 1 } = this.#options;
    const { timeoutMs, onChunk } = options;
    const command = startCommand({
      ...this.#shell,
      text,
      cwd,
      env: this.#env,
      timeoutMs,
      claimsOrphans,
      ...(maxStreamBytes !== undefined && { maxStreamBytes }),
      ...(killGraceMs !== undefined && { killGraceMs }),
      ...(onChunk !== undefined && { onChunk: this.#guarded(onChunk) }),
    });
    this.#commands.add(command);
    let ending: Promise<number> | undefined;
    return {
      result: command.result.then(asBashResult),
      end: () => (ending ??= this.#end(command)),
    };
  }

  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const politeMs = graceMs * POLITE_SHARE;
    await Promise.all([...this.#commands].map((command) => this.#end(command, politeMs, graceMs - politeMs)));
  }

  async #end(command: StartedCommand, graceMs?: number, killWaitMs?: number): Promise<number> {
    const { found, left } = await command.end(graceMs, killWaitMs);
    if (this.#commands.delete(command)) this.#tell({ found, left });
    return found;
  }

  #tell({ found, left }: FamilyEnd): void {
    if (left > 0) this.#options.logger.warn('Processes of a command could not be ended', { found, left });
  }

  /** What an observer gets wrong is not the command's fault. */
  #guarded(onChunk: (chunk: OutputChunk) => void): (chunk: OutputChunk) => void {
    let failed = false;
    return (chunk) => {
      if (failed) return;
      try {
        onChunk(chunk);
      } catch (error) {
        failed = true;
        this.#options.logger.error('Output of a command could not be told while it ran', { error });
      }
    };
  }
}

function asBashResult({ exitCode, ...output }: Awaited<StartedCommand['result']>): BashResult {
  return { kind: 'bash', ...output, ...(exitCode !== undefined && { exitCode }) };
}

function notStarted(why: string): RunningCommand {
  const stderr = `error: the command couldn't start: ${why}`;
  const result = asBashResult({
    exitCode: 126,
    stdout: '',
    stderr,
    stdoutBytes: 0,
    stderrBytes: stderr.length,
    truncated: false,
    timedOut: false,
  });
  return { result: Promise.resolve(result), end: () => Promise.resolve(0) };
}
