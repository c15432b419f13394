import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { forgetGroup, rememberGroup, signalGroup } from './children.js';
import { LineLog } from './line-log.js';
import { eventually } from './wait-for.js';

/** What is passed on from our own environment; everything else a child needs is given to it by name. */
const INHERITED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'TZ',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'DOCKER_HOST',
];

/** How long after its end a process' last output may take to arrive. */
const OUTPUT_GRACE_MS = 2_000;

export interface StartProcessOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to a small inherited set (PATH, HOME, TMPDIR, LANG, TZ, certificates); `undefined` takes a name out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** A line that is printed, or an http(s) address that answers 2xx. Without it the process counts as ready at once. */
  readonly readyWhen?: RegExp | URL | string;
  /** Default 15,000 ms. */
  readonly readyTimeoutMs?: number;
  /** Keeps a pipe to the process' standard input open: see {@link RunningProcess.write}. Default: no input. */
  readonly input?: boolean;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly pid: number;
  /** Lines of standard output, the newest 5,000 lines of both streams are kept. */
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Both streams, as text. */
  output(): string;
  /**
   * The first line of either stream that matches: also one that was printed before (`since: 'now'` leaves those out).
   * @throws Error with the last lines when the time is over or the process ends without such a line.
   */
  waitForLine(
    pattern: RegExp,
    timeoutMs?: number,
    options?: { readonly since?: 'start' | 'now' },
  ): Promise<RegExpExecArray>;
  /** Writes to standard input; only with `input: true`. */
  write(text: string): void;
  endInput(): void;
  /** Sends one signal to the process itself. False when it has ended. */
  kill(signal: NodeJS.Signals): boolean;
  /** Settles when the process has ended and its output was read; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** SIGTERM, and SIGKILL for the whole process group after `graceMs` (default 10,000). */
  stop(options?: { readonly graceMs?: number }): Promise<ProcessExit>;
}

/**
 * Starts a real process in a group of its own and waits until it is ready. Whatever is left of the group is
 * killed at the end of the test file, however that ends.
 * @throws Error with the last lines of output when the process cannot be started, ends early, or is not ready in time.
 */
export async function startProcess(options: StartProcessOptions): Promise<RunningProcess> {
  const name = [options.command, ...(options.args ?? [])].join(' ');
  const child = spawn(options.command, [...(options.args ?? [])], {
    cwd: options.cwd,
    env: environment(options.env ?? {}),
    stdio: [options.input === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const log = new LineLog();
  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null) => {
      exit ??= { code, signal };
      resolve(exit);
    };
    child.once('exit', (code, signal) => {
      // Nothing of the group may outlive its leader. One that left the group could hold the output
      // pipes open for ever, so their end is waited for only so long.
      if (child.pid !== undefined) {
        signalGroup(child.pid, 'SIGKILL');
        forgetGroup(child.pid);
      }
      const timer = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        settle(code, signal);
      }, OUTPUT_GRACE_MS);
      child.once('close', () => {
        clearTimeout(timer);
        settle(code, signal);
      });
    });
  });
  for (const source of ['stdout', 'stderr'] as const) {
    const stream = child[source];
    if (stream !== null) follow(stream, source, log);
  }
  child.stdin?.on('error', () => undefined);

  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      reject(new Error(`could not start ${name}: ${cause.message}`, { cause }));
    });
  });
  const pid = child.pid ?? 0;
  // It may have ended before we got here; then its id belongs to nobody, or to somebody else.
  if (child.exitCode === null && child.signalCode === null) rememberGroup(pid);

  const waitForLine: RunningProcess['waitForLine'] = (pattern, timeoutMs = 10_000, { since = 'start' } = {}) =>
    new Promise((resolve, reject) => {
      // A global or sticky pattern would remember where it stopped in another line.
      const match = (text: string) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/gu, '')).exec(text);
      for (const line of since === 'start' ? log.lines : []) {
        const found = match(line.text);
        if (found !== null) {
          resolve(found);
          return;
        }
      }
      const fail = (reason: string) => {
        finish();
        reject(new Error(`${name}: no line like ${String(pattern)}: ${reason}\n${log.tail()}`));
      };
      const stopListening = log.listen((line) => {
        const found = match(line.text);
        if (found === null) return;
        finish();
        resolve(found);
      });
      const timer = setTimeout(() => {
        fail(`waited ${String(timeoutMs)} ms`);
      }, timeoutMs);
      let finished = false;
      const finish = () => {
        finished = true;
        clearTimeout(timer);
        stopListening();
      };
      void exited.then((how) => {
        if (!finished) fail(`the process has ended (${describe(how)})`);
      });
    });

  const running: RunningProcess = {
    pid,
    get stdout() {
      return log.lines.filter((line) => line.source === 'stdout').map((line) => line.text);
    },
    get stderr() {
      return log.lines.filter((line) => line.source === 'stderr').map((line) => line.text);
    },
    output: () => log.tail(Number.MAX_SAFE_INTEGER),
    waitForLine,
    write: (text) => {
      if (child.stdin === null) throw new Error('this process was started without input: true');
      child.stdin.write(text);
    },
    endInput: () => {
      child.stdin?.end();
    },
    kill: (signal) => child.kill(signal),
    exited,
    stop: async ({ graceMs = 10_000 } = {}) => {
      if (exit !== undefined) return exit;
      child.kill('SIGTERM');
      const timer = setTimeout(() => {
        // A stopped process takes SIGKILL too.
        signalGroup(pid, 'SIGKILL');
      }, graceMs);
      try {
        return await exited;
      } finally {
        clearTimeout(timer);
      }
    },
  };

  try {
    await ready(running, name, options, () => exit, log);
  } catch (error) {
    signalGroup(pid, 'SIGKILL');
    await exited;
    throw error;
  }
  return running;
}

async function ready(
  running: RunningProcess,
  name: string,
  options: StartProcessOptions,
  exit: () => ProcessExit | undefined,
  log: LineLog,
): Promise<void> {
  const { readyWhen, readyTimeoutMs = 15_000 } = options;
  if (readyWhen === undefined) return;
  if (readyWhen instanceof RegExp) {
    await running.waitForLine(readyWhen, readyTimeoutMs);
    return;
  }
  const waiting = new AbortController();
  try {
    await eventually(
      async () => {
        if (exit() !== undefined) return;
        const signal = AbortSignal.any([AbortSignal.timeout(1_000), waiting.signal]);
        const response = await fetch(readyWhen, { signal });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`${String(readyWhen)} answered ${String(response.status)}`);
      },
      { timeoutMs: readyTimeoutMs, what: `${name} to answer at ${String(readyWhen)}` },
    );
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${reason}\n${log.tail()}`, { cause });
  } finally {
    waiting.abort();
  }
  const how = exit();
  if (how !== undefined) throw new Error(`${name} ended before it was ready (${describe(how)})\n${log.tail()}`);
}

function follow(stream: Readable, source: 'stdout' | 'stderr', log: LineLog): void {
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    log.write(source, chunk);
  });
  stream.on('end', () => {
    log.end(source);
  });
}

function environment(given: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const result: NodeJS.ProcessEnv = {};
  for (const name of INHERITED) if (process.env[name] !== undefined) result[name] = process.env[name];
  for (const [name, value] of Object.entries(given)) {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a name the caller wants to be absent
    if (value === undefined) delete result[name];
    else result[name] = value;
  }
  return result;
}

function describe(exit: ProcessExit): string {
  return exit.signal === null ? `code ${String(exit.code)}` : `signal ${exit.signal}`;
}
