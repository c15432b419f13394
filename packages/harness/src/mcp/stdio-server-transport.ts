import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../errors.js';
import { JsonLineReader } from './json-line-reader.js';
import { ProcessGroup } from './process-group.js';
import { TextTail } from './text-tail.js';

const STDERR_TAIL_CHARS = 2_000;
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Lines in a row that are no protocol, after which the program is taken for something else than a server. */
const MAX_GARBAGE_LINES = 1_000;
/** How long the output of a server that ended is still read while something else holds its pipe, in milliseconds. */
const LAST_OUTPUT_MS = 200;
const KILL_WAIT_MS = 500;

export interface StdioServerOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What a server gets to end by itself after its input has ended, and again after SIGTERM, in milliseconds. */
  readonly stopGraceMs: number;
}

/**
 * Speaks MCP with a program over its standard streams. The program leads a process group of its own, and `close` ends
 * the whole group: a wrapper such as npx would otherwise leave the real server behind.
 */
export class StdioServerTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];

  readonly #stderr = new TextTail(STDERR_TAIL_CHARS);
  readonly #inbox: unknown[] = [];
  #child: ChildProcessWithoutNullStreams | undefined;
  #group: ProcessGroup | undefined;
  #garbageLines = 0;
  #delivering = false;
  #delivered: Promise<void> = Promise.resolve();
  #lost = false;
  #closing: Promise<void> | undefined;
  #exit = '';

  constructor(private readonly options: StdioServerOptions) {}

  /** The last that the server wrote to its standard error, not yet redacted. */
  get stderrTail(): string {
    return this.#stderr.toString();
  }

  /** How the process ended, such as `exit code 3`; empty while it runs. */
  get exit(): string {
    return this.#exit;
  }

  /** @throws if the program cannot be started. */
  async start(): Promise<void> {
    await this.#checkFolder();
    const child = spawn(this.options.command, this.options.args ?? [], {
      cwd: this.options.cwd,
      env: this.options.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) this.#group = new ProcessGroup(child.pid);
    this.#listen(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  /** @throws if the message cannot have reached the server: it is gone, or did not take the whole line. */
  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined || this.#lost || this.#closing !== undefined) throw new NotDeliveredError();
    const line = `${JSON.stringify(message)}\n`;
    const failure = await new Promise<Error | null | undefined>((resolve) => child.stdin.write(line, resolve));
    if (failure === null || failure === undefined) return;
    // A broken pipe is noticed before the end of the process behind it: how it ended is worth a moment.
    await this.#closed(child);
    throw new NotDeliveredError({ cause: failure });
  }

  /** Resolves when nothing of the group is left. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const child = this.#child;
    const group = this.#group;
    if (child !== undefined && group !== undefined) {
      child.stdin.end();
      await this.#leaderEnds(child);
      await group.end(this.options.stopGraceMs, KILL_WAIT_MS);
      child.stdout.destroy();
      child.stderr.destroy();
    }
    this.#lose();
  }

  async #leaderEnds(child: ChildProcessWithoutNullStreams): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.options.stopGraceMs);
      child.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** spawn blames a missing folder on the program. */
  async #checkFolder(): Promise<void> {
    const { cwd } = this.options;
    if (cwd === undefined) return;
    const found = await stat(cwd).catch(() => undefined);
    if (found?.isDirectory() !== true) throw new Error(`the working directory ${cwd} does not exist`);
  }

  #listen(child: ChildProcessWithoutNullStreams): void {
    const reader = new JsonLineReader(MAX_LINE_BYTES, {
      onValue: (value) => {
        this.#inbox.push(value);
        void this.#deliver();
      },
      onGarbage: () => this.#countGarbage(),
      onOverflow: () => this.#giveUp(`sent a line of more than ${MAX_LINE_BYTES} bytes`),
    });
    child.stdout.on('data', (chunk: Buffer) => reader.push(chunk));
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (chunk: string) => this.#stderr.append(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on('error', (error) => this.onerror?.(error));
    }
    child.on('error', (error) => this.onerror?.(error));
    child.once('exit', (code, signal) => {
      this.#exit = signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`;
      void this.#afterExit(child);
    });
  }

  /** What the server said last is heard before its end is, even if a grandchild keeps the pipe open. */
  async #afterExit(child: ChildProcessWithoutNullStreams): Promise<void> {
    await this.#closed(child);
    await this.#delivered;
    this.#lose();
    if (this.#closing === undefined) await this.close();
  }

  /** Resolves when the process and its output are over, or soon. */
  async #closed(child: ChildProcessWithoutNullStreams): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LAST_OUTPUT_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #deliver(): Promise<void> {
    if (this.#delivering) return;
    this.#delivering = true;
    const done = Promise.withResolvers<undefined>();
    this.#delivered = done.promise;
    // The client hears notifications one microtask later than answers. Without the pause, progress that comes in one
    // chunk with the answer would be heard after it and dropped.
    for (let value = this.#inbox.shift(); value !== undefined; value = this.#inbox.shift()) {
      this.#receive(value);
      await Promise.resolve();
    }
    this.#delivering = false;
    done.resolve(undefined);
  }

  #receive(value: unknown): void {
    const message = JSONRPCMessageSchema.safeParse(value);
    if (!message.success) {
      this.#countGarbage();
      return;
    }
    this.#garbageLines = 0;
    this.onmessage?.(message.data);
  }

  #countGarbage(): void {
    this.#garbageLines += 1;
    if (this.#garbageLines === MAX_GARBAGE_LINES) {
      this.#giveUp(`wrote ${MAX_GARBAGE_LINES} lines to its standard output that are no MCP messages`);
    }
  }

  #giveUp(reason: string): void {
    this.#exit ||= reason;
    this.onerror?.(new Error(reason));
    this.#lose();
    void this.close();
  }

  /** Tells the client once that no answer will come. */
  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#inbox.length = 0;
    this.onclose?.();
  }
}

/** A message that surely did not reach its server. */
export class NotDeliveredError extends Error {
  override readonly name = 'NotDeliveredError';

  constructor(options?: { readonly cause?: unknown }) {
    super(`the server is not running${options?.cause === undefined ? '' : `: ${messageOf(options.cause)}`}`, options);
  }
}
