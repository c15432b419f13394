import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestsEnd } from './children.js';
import { findRedisServer } from './find-redis.js';
import { freePort } from './free-port.js';
import { redisCommand, type RedisPlace } from './redis-command.js';
import { startProcess, type RunningProcess } from './start-process.js';
import { eventually } from './wait-for.js';

export interface StartRedisOptions {
  /** Writes every change to an append-only file. Default false: nothing is written unless asked. */
  readonly appendonly?: boolean;
  /** Passed on to redis-server as they are, for instance `['--maxmemory', '4mb']`. */
  readonly extraArgs?: readonly string[];
  /** Default: any free port. The port stays the same over restarts. */
  readonly port?: number;
  /** What `extraArgs` make its password, for what is asked here. */
  readonly password?: string;
}

export interface RedisServer {
  /** `redis://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** Of the process that runs now; another one after a restart. */
  readonly pid: number;
  /** Ends the process and waits for that. It can be started again with {@link RedisServer.restart}. */
  stop(): Promise<void>;
  /** SIGKILL, as if the machine had gone; the process is gone when the promise settles. */
  kill(): Promise<void>;
  /** Ends the process if it runs and starts another on the same port, answering, with or without what was stored. */
  restart(options: { readonly keepData: boolean }): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  pause(): void;
  /** SIGCONT, answered again when the promise settles. */
  resume(): Promise<void>;
  /** One command on a connection of its own, for instance `cli('SET', 'a', '1')`; the reply as ioredis gives it. */
  cli(...args: readonly string[]): Promise<unknown>;
}

/** Arguments without which a replica waits for others of its kind for 5 s before it is given the data. */
export const REPLICATION: readonly string[] = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];

/**
 * A real redis-server on 127.0.0.1 in a folder of its own, answering PING when the promise settles. It is ended
 * and its folder removed at the end of the test file.
 * @throws Error when there is no redis-server or it does not start; its output is in the message.
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const binary = findRedisServer();
  const directory = await mkdtemp(join(tmpdir(), 'parley-redis-'));
  let process_: RunningProcess;
  let port: number;
  try {
    ({ process: process_, port } = await launchOnSomePort(binary, directory, options));
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  const end = async () => {
    // A paused process would not see SIGTERM.
    process_.kill('SIGCONT');
    await process_.stop({ graceMs: 5_000 });
  };
  onTestsEnd(async () => {
    await end();
    await rm(directory, { recursive: true, force: true });
  });

  const place: RedisPlace = { port, password: options.password };

  return {
    url: `redis://127.0.0.1:${String(port)}`,
    port,
    get pid() {
      return process_.pid;
    },
    stop: end,
    kill: async () => {
      process_.kill('SIGKILL');
      await process_.exited;
    },
    restart: async ({ keepData }) => {
      const running = process_.kill('SIGCONT');
      // Without an append-only file nothing is on disk yet. The server answers SAVE, then it is ended.
      if (running && keepData && options.appendonly !== true) await redisCommand(place, ['SAVE']);
      await end();
      if (!keepData) {
        for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
      }
      process_ = await launch(binary, directory, options, port);
    },
    pause: () => {
      process_.kill('SIGSTOP');
    },
    resume: async () => {
      process_.kill('SIGCONT');
      await ping(place);
    },
    cli: (...args) => redisCommand(place, args),
  };
}

async function launchOnSomePort(
  binary: string,
  directory: string,
  options: StartRedisOptions,
): Promise<{ process: RunningProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    try {
      return { process: await launch(binary, directory, options, port), port };
    } catch (error) {
      // Between asking for a free port and using it somebody else may have taken it.
      const taken = error instanceof Error && error.message.includes('Address already in use');
      if (!taken || options.port !== undefined || attempt === 5) throw error;
    }
  }
}

async function launch(
  binary: string,
  directory: string,
  options: StartRedisOptions,
  port: number,
): Promise<RunningProcess> {
  const args = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--protected-mode', 'yes', '--dir', directory],
    ...['--save', '', '--appendonly', options.appendonly === true ? 'yes' : 'no', '--daemonize', 'no'],
    ...(options.extraArgs ?? []),
  ];
  // Its own words, not PING alone: a server of somebody else on this port would answer that too.
  const running = await startProcess({
    command: binary,
    args,
    cwd: directory,
    readyWhen: /Ready to accept connections/u,
  });
  try {
    await ping({ port, password: options.password });
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

async function ping(place: RedisPlace): Promise<void> {
  await eventually(() => redisCommand(place, ['PING'], 1_000), { timeoutMs: 10_000, what: 'Redis to answer PING' });
}
