import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findShell } from '../find-shell.js';
import { ForkServerLauncher } from '../fork-server-launcher.js';
import type { Launcher } from '../launcher.js';
import { spawnLauncher } from '../spawn-launcher.js';
import { startCommand, type StartCommandOptions, type StartedCommand } from '../start-command.js';

const nowhere: Launcher = { launch: () => Promise.reject(new Error('no fork server')) };

/** One fork server for all tests of a file; nothing else starts commands in its place. */
export const forkServer = new ForkServerLauncher(nowhere);

/** Every way to start commands: what is promised of commands holds for each. */
export const LAUNCHERS: readonly (readonly [string, Launcher])[] =
  process.platform === 'linux'
    ? [
        ['spawn', spawnLauncher],
        ['the fork server', forkServer],
      ]
    : [['spawn', spawnLauncher]];

/** Starts commands in a folder of their own, into which they write the pids of what they start. */
export class CommandFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'parley-command-')));
  readonly #started: StartedCommand[] = [];

  constructor(private readonly launcher?: Launcher) {}

  start(text: string, options: Partial<StartCommandOptions> = {}): StartedCommand {
    const { path, name } = findShell(process.env['PATH']);
    const command = startCommand({
      shell: path,
      shellName: name,
      text,
      cwd: this.path,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.path },
      killGraceMs: 150,
      ...(this.launcher !== undefined && { launcher: this.launcher }),
      ...options,
    });
    this.#started.push(command);
    return command;
  }

  /** The result of a command, with everybody ended whom it left. */
  async run(text: string, options: Partial<StartCommandOptions> = {}): ReturnType<typeof this.resultOf> {
    return this.resultOf(this.start(text, options));
  }

  async resultOf(command: StartedCommand) {
    const result = await command.result;
    await command.end();
    return result;
  }

  /** The pid that a command has written, when it has. */
  async pid(name: string): Promise<number> {
    const file = join(this.path, name);
    while (!existsSync(file) || !readFileSync(file, 'utf8').endsWith('\n')) await delay(5);
    return Number(readFileSync(file, 'utf8'));
  }

  async remove(): Promise<void> {
    await Promise.all(this.#started.map((command) => command.end(0)));
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A process that only waits to be forgotten counts as ended. */
export function lives(pid: number): boolean {
  if (!(pid > 1)) throw new RangeError(`not the pid of a process: ${pid}`);
  const state = stateOf(pid);
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Children of a process that ended and were not waited for. */
export function zombiesOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => stateOf(pid) === 'Z' && parentOf(pid) === parent);
}

export function openDescriptors(pid: number | 'self' = 'self'): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function stateOf(pid: number): string | undefined {
  return statFields(pid)?.[0];
}

export function parentOf(pid: number): number {
  return Number(statFields(pid)?.[1]);
}

function statFields(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ');
  } catch {
    return undefined;
  }
}
