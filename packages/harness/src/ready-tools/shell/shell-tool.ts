import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  DEFAULT_PASSED_ENV,
  OutputCapture,
  runCommand,
  shellEnvironment,
  systemCode,
  type Command,
  type CommandEnd,
} from '@parley/shell';
import type { JsonObject } from '../../json.js';
import { StepOutcome } from '../../tools/step-outcome.js';
import type { ToolDefinition } from '../../tools/tool-definition.js';
import type { ToolCallContext, ToolHandler } from '../../tools/tool-handler.js';
import { ReadyToolError, shortened } from '../ready-tool-error.js';
import { integerOption, ToolArguments } from '../tool-arguments.js';
import { OutputProgress } from './output-progress.js';

export interface ShellToolOptions {
  /** Where commands run; a call's own `cwd` is relative to it. */
  readonly cwd: string;
  /** Names of variables that commands get from `parentEnv`. Default DEFAULT_PASSED_ENV; nothing else passes. */
  readonly passEnv?: readonly string[];
  /** Further variables, and other values for those that pass. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default the environment of this process. */
  readonly parentEnv?: Readonly<Record<string, string | undefined>>;
  /** A shell that takes `-c`. Default `/bin/bash` if it is there, else `/bin/sh`. */
  readonly shell?: string;
  /** Time of a command that asks for none, in milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
  /** The longest time that a call may ask for, in milliseconds. Default 600,000. */
  readonly maxTimeoutMs?: number;
  /** Output that is kept, half from its beginning, half from its end. Default 65,536. */
  readonly maxOutputBytes?: number;
  /** Between the polite end and the hard one, in milliseconds. Default 2,000. */
  readonly killGraceMs?: number;
  /** Between two reports of output, in milliseconds. Default 250. */
  readonly progressIntervalMs?: number;
  /** Marks the processes of one call; unique each time. */
  readonly newId?: () => string;
}

/** The system refuses longer arguments; 128 KiB on Linux. */
const MAX_COMMAND_BYTES = 120_000;

const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * The tool `shell`. A command has no input and no terminal. When it exits, when its time is over and when the run is
 * aborted, everything that it started is ended: SIGTERM, a grace, SIGKILL, to the group and, on Linux, to those who
 * left it (the README of `@parley/shell` says who escapes). So nothing runs on in the background after a call.
 *
 * Results: `{status: "ok", exit_code, output}`, or `status` `error`, `timed_out`, `cancelled` with `error`.
 * This is no sandbox: a command may do what the user may do.
 */
export class ShellTool implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #cwd: string;
  readonly #shell: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #maxTimeoutMs: number;
  readonly #maxOutputBytes: number;
  readonly #killGraceMs: number;
  readonly #progressIntervalMs: number;
  readonly #newId: () => string;
  readonly #running = new Map<AbortController, Promise<unknown>>();

  /** @throws RangeError for a limit that is not valid. */
  constructor(options: ShellToolOptions) {
    this.#cwd = resolve(options.cwd);
    this.#shell = options.shell ?? (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');
    const passed = options.passEnv ?? DEFAULT_PASSED_ENV;
    this.#environment = shellEnvironment(options.parentEnv ?? process.env, passed, options.env ?? {});
    this.#timeoutMs = integerOption(options.timeoutMs, 120_000, 'timeoutMs');
    this.#maxTimeoutMs = Math.max(this.#timeoutMs, integerOption(options.maxTimeoutMs, 600_000, 'maxTimeoutMs'));
    if (this.#maxTimeoutMs > MAX_TIMEOUT_MS) throw new RangeError(`times must be at most ${MAX_TIMEOUT_MS} ms`);
    this.#maxOutputBytes = integerOption(options.maxOutputBytes, 65_536, 'maxOutputBytes');
    this.#killGraceMs = integerOption(options.killGraceMs, 2_000, 'killGraceMs', 0);
    this.#progressIntervalMs = integerOption(options.progressIntervalMs, 250, 'progressIntervalMs');
    this.#newId = options.newId ?? randomUUID;
    this.tools = [shellDefinition(this.#shell, this.#timeoutMs, this.#maxTimeoutMs)];
  }

  async call(context: ToolCallContext): Promise<StepOutcome> {
    try {
      const args = new ToolArguments(context.arguments);
      const command = commandText(args);
      const timeoutSeconds = args.optionalNumber('timeout_seconds', 0.001, this.#maxTimeoutMs / 1_000);
      const cwd = await this.#folderOf(args.optionalText('cwd') ?? '');
      return await this.#run(context, command, cwd, Math.ceil((timeoutSeconds ?? this.#timeoutMs / 1_000) * 1_000));
    } catch (error) {
      context.signal.throwIfAborted();
      const text = error instanceof ReadyToolError ? error.message : startFailure(error);
      if (text === undefined) throw error;
      return new StepOutcome({ status: 'error', tool: context.tool.name, error: text }, { error: text });
    }
  }

  /** Ends every command that still runs. */
  async stop(): Promise<void> {
    for (const controller of this.#running.keys()) controller.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #run(context: ToolCallContext, text: string, cwd: string, timeoutMs: number): Promise<StepOutcome> {
    const output = new OutputCapture(this.#maxOutputBytes);
    const progress = new OutputProgress(context.progress, this.#progressIntervalMs);
    const onOutput = (chunk: Buffer) => {
      output.add(chunk);
      progress.add(chunk);
    };
    try {
      const end = await this.#follow(context.signal, {
        shell: this.#shell,
        text,
        cwd,
        env: this.#environment,
        id: this.#newId(),
        timeoutMs,
        killGraceMs: this.#killGraceMs,
        onOutput,
      });
      return outcomeOf(end, output, timeoutMs);
    } finally {
      progress.stop();
    }
  }

  /** Runs a command that `stop` can end too. */
  async #follow(signal: AbortSignal, command: Omit<Command, 'signal'>): Promise<CommandEnd> {
    signal.throwIfAborted();
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const running = runCommand({ ...command, signal: controller.signal });
    this.#running.set(controller, running);
    try {
      return await running;
    } finally {
      this.#running.delete(controller);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #folderOf(path: string): Promise<string> {
    const folder = path.includes('\0') ? undefined : resolve(this.#cwd, path);
    const stats = folder === undefined ? undefined : await stat(folder).catch(() => undefined);
    if (folder !== undefined && stats?.isDirectory() === true) return folder;
    throw new ReadyToolError(`the folder '${path === '' ? '.' : shortened(path)}' does not exist`);
  }
}

function shellDefinition(shell: string, timeoutMs: number, maxTimeoutMs: number): ToolDefinition {
  return {
    name: 'shell',
    description:
      `Runs a command with ${shell} -c and gives back its exit code and output (errors included). It gets no input. ` +
      'What it leaves running in the background is ended with it.',
    effect: 'side_effecting',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string' },
        timeout_seconds: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: maxTimeoutMs / 1_000,
          description: `Default ${timeoutMs / 1_000}.`,
        },
        cwd: { type: 'string', description: 'Where to run it, relative to the working folder.' },
      },
      required: ['command'],
      additionalProperties: false,
    },
  };
}

function commandText(args: ToolArguments): string {
  const command = args.text('command');
  if (command.trim() === '') throw new ReadyToolError("'command' must not be blank");
  if (command.includes('\0')) throw new ReadyToolError("'command' must not contain NUL characters");
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES) {
    throw new ReadyToolError(`'command' must have at most ${MAX_COMMAND_BYTES} bytes; write a script and run it`);
  }
  return command;
}

function startFailure(error: unknown): string | undefined {
  const code = systemCode(error);
  return code === undefined ? undefined : `the command could not be started (${code})`;
}

function outcomeOf(end: CommandEnd, capture: OutputCapture, timeoutMs: number): StepOutcome {
  const { text, omittedBytes } = capture.result();
  const error = failureOf(end, timeoutMs);
  const notes = notesOf(end);
  const data: JsonObject = {
    status: statusOf(end),
    ...(error !== undefined && { error }),
    exit_code: end.exitCode,
    ...(end.exitSignal !== null && { signal: end.exitSignal }),
    output: text,
    ...(omittedBytes > 0 && { omitted_bytes: omittedBytes }),
    ...(notes.length > 0 && { note: notes.join('; ') }),
  };
  return new StepOutcome(data, error === undefined ? {} : { error });
}

function statusOf({ cause, exitCode }: CommandEnd): string {
  if (cause === 'timed_out') return cause;
  if (cause === 'aborted') return 'cancelled';
  return exitCode === 0 ? 'ok' : 'error';
}

function failureOf({ cause, exitCode, exitSignal }: CommandEnd, timeoutMs: number): string | undefined {
  if (cause === 'timed_out') return `the command was ended after ${timeoutMs / 1_000} s`;
  if (cause === 'aborted') return 'the command was ended because the run was aborted';
  if (exitSignal !== null) return `the command was ended by ${exitSignal}`;
  return exitCode === 0 ? undefined : `the command exited with code ${String(exitCode)}`;
}

function notesOf({ leftBehind, survivors }: CommandEnd): string[] {
  const notes: string[] = [];
  if (leftBehind > 0) notes.push(`${leftBehind} background processes were ended with the command`);
  if (survivors > 0) notes.push(`${survivors} processes could not be ended`);
  return notes;
}
