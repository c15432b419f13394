import { execFile, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const urlOf = {
  'append-after-full': new URL('./testing/append-after-full.mjs', import.meta.url),
  'append-forever': new URL('./testing/append-forever.mjs', import.meta.url),
  'append-until-full': new URL('./testing/append-until-full.mjs', import.meta.url),
  'compile-sources': new URL('./testing/compile-sources.mjs', import.meta.url),
  'hold-run': new URL('./testing/hold-run.mjs', import.meta.url),
  'record-runs': new URL('./testing/record-runs.mjs', import.meta.url),
};

/** Scripts that are run as processes of their own. */
type Script = keyof typeof urlOf;

const script = (name: Script) => fileURLToPath(urlOf[name]);

/** Makes plain modules of the sources in `folder`; the scripts take that folder as their first argument. */
export async function compileSources(folder: string): Promise<void> {
  const args = ['--disable-warning=ExperimentalWarning', script('compile-sources'), folder];
  await run(process.execPath, args, { timeout: 60_000, env: {} });
}

/**
 * Runs a script to its end and gives what it wrote.
 *
 * @param maxFileBlocks The size that no file may pass, in blocks of 512 bytes.
 */
export async function runScript(name: Script, args: readonly string[], maxFileBlocks?: number): Promise<string> {
  const limit = maxFileBlocks === undefined ? '' : `ulimit -f ${maxFileBlocks}; `;
  const command = `${limit}exec "$0" "$@"`;
  const { stdout } = await run('sh', ['-c', command, process.execPath, script(name), ...args], {
    timeout: 30_000,
    maxBuffer: 10_000_000,
    env: {},
  });
  return stdout;
}

/** A process whose lines are read, and which is killed at the latest by `kill`. */
export class ChildProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #closed: Promise<unknown>;

  constructor(name: Script, args: readonly string[]) {
    this.#child = spawn(process.execPath, [script(name), ...args], { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
    this.#closed = once(this.#child, 'close');
    const reader: Interface = createInterface({ input: this.#child.stdout });
    this.#lines = reader[Symbol.asyncIterator]();
  }

  /** The next line; undefined after the last. */
  async line(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    return done === true ? undefined : value;
  }

  tell(): void {
    this.#child.stdin.write('go\n');
  }

  /** @returns The lines that had not been read. */
  async kill(): Promise<readonly string[]> {
    this.#child.kill('SIGKILL');
    const rest: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) rest.push(line);
    await this.#closed;
    return rest;
  }
}
