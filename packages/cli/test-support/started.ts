import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';

/** Long enough for a loaded machine. */
const WAIT_MS = 20_000;

export interface StartedOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: 'pipe' | 'ignore';
}

/** A process whose output can be waited for. */
export class Started {
  /** Both outputs, as they came. */
  output = '';
  out = '';
  err = '';
  readonly exitCode: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(command: string, args: readonly string[], { cwd, env, stdin }: StartedOptions) {
    const stdio: StdioOptions = [stdin, 'pipe', 'pipe'];
    this.#child = spawn(command, args, { cwd, env, stdio });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.out += chunk;
      this.#hear(chunk);
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.err += chunk;
      this.#hear(chunk);
    });
    this.exitCode = new Promise((resolve) => this.#child.once('close', resolve));
  }

  write(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The reader leaves after the first output. */
  async leaveAfterFirstOutput(): Promise<void> {
    await this.says(/./u);
    this.#child.stdout?.destroy();
  }

  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`waited for ${String(pattern)} in ${this.output}`)), WAIT_MS);
        this.#child.once('said', () => {
          clearTimeout(timer);
          resolve(undefined);
        });
      });
    }
  }

  #hear(chunk: string): void {
    this.output += chunk;
    this.#child.emit('said');
  }
}
