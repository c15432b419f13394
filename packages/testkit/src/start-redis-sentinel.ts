import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestsEnd } from './children.js';
import { findRedisServer } from './find-redis.js';
import { freePort } from './free-port.js';
import { redisCommand } from './redis-command.js';
import { startProcess } from './start-process.js';
import { REPLICATION, startRedis, type RedisServer } from './start-redis.js';
import { eventually } from './wait-for.js';

export interface StartRedisSentinelOptions {
  /** Default 2. */
  readonly replicas?: number;
  /** Default 3; a majority of them decides. */
  readonly sentinels?: number;
  /** A master that is silent for so long is taken for dead. Default 1,000. */
  readonly downAfterMs?: number;
  /** Of the servers; the sentinels have none. */
  readonly password?: string;
  /** Passed on to each redis-server as they are. */
  readonly extraArgs?: readonly string[];
}

export interface RedisSentinel {
  readonly masterName: string;
  /** Where the sentinels are. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The variables by which a service finds it. */
  readonly env: Readonly<Record<string, string>>;
  /** The first was the master at the start. */
  readonly servers: readonly RedisServer[];
  /** Whom the sentinels take for the master now. */
  master(): Promise<RedisServer>;
  /** A command for one of the sentinels. */
  askSentinel(...args: readonly string[]): Promise<unknown>;
}

const MASTER_NAME = 'parley-master';

/**
 * A real master with replicas, and sentinels that watch them: all know each other when the promise settles. Ended at
 * the end of the test file.
 */
export async function startRedisSentinel(options: StartRedisSentinelOptions = {}): Promise<RedisSentinel> {
  const { replicas = 2, sentinels: count = 3, password, extraArgs = [] } = options;
  const secret = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const args = [...REPLICATION, ...secret, ...extraArgs];
  const auth = password === undefined ? {} : { password };
  const first = await startRedis({ extraArgs: args, ...auth });
  const others = await Promise.all(
    Array.from({ length: replicas }, () =>
      startRedis({ extraArgs: [...args, '--replicaof', '127.0.0.1', String(first.port)], ...auth }),
    ),
  );
  const servers = [first, ...others];
  await untilReplicated(first, replicas);
  const ports = await Promise.all(Array.from({ length: count }, () => startSentinel(first.port, count, options)));
  await eventually(() => Promise.all(ports.map((port) => knowsAll(port, replicas, count))), {
    timeoutMs: 20_000,
    what: 'the sentinels to know each other',
  });
  const ask = async (...command: readonly string[]): Promise<unknown> => {
    const failures: unknown[] = [];
    for (const port of ports) {
      try {
        return await redisCommand({ port }, command, 1_000);
      } catch (error) {
        failures.push(error);
      }
    }
    throw new AggregateError(failures, 'no sentinel answers');
  };
  return {
    masterName: MASTER_NAME,
    sentinels: ports.map((port) => ({ host: '127.0.0.1', port })),
    env: {
      REDIS_SENTINELS: ports.map((port) => `127.0.0.1:${String(port)}`).join(','),
      REDIS_MASTER_NAME: MASTER_NAME,
      ...(password === undefined ? {} : { REDIS_PASSWORD: password }),
    },
    servers,
    askSentinel: ask,
    master: async () => {
      const [, port] = (await ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)) as string[];
      const found = servers.find((server) => server.port === Number(port));
      if (found === undefined)
        throw new Error(`the sentinels name a server on port ${String(port)}, which is none of ours`);
      return found;
    },
  };
}

async function untilReplicated(master: RedisServer, replicas: number): Promise<void> {
  await eventually(
    async () => {
      const online = String(await master.cli('INFO', 'replication')).match(/state=online/gu) ?? [];
      if (online.length < replicas) throw new Error(`${String(online.length)} replicas are online`);
    },
    { timeoutMs: 15_000, what: 'the replicas to be online' },
  );
}

async function startSentinel(
  masterPort: number,
  count: number,
  { downAfterMs = 1_000, password }: StartRedisSentinelOptions,
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-sentinel-'));
  onTestsEnd(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const quorum = Math.floor(count / 2) + 1;
  const lines = [
    `port ${String(port)}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${String(masterPort)} ${String(quorum)}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${String(downAfterMs)}`,
    `sentinel failover-timeout ${MASTER_NAME} 10000`,
    ...(password === undefined ? [] : [`sentinel auth-pass ${MASTER_NAME} ${password}`]),
  ];
  // It writes what it learns into the file.
  const file = join(directory, 'sentinel.conf');
  await writeFile(file, `${lines.join('\n')}\n`);
  const running = await startProcess({
    command: findRedisServer(),
    args: [file, '--sentinel'],
    cwd: directory,
    readyWhen: /\+monitor master/u,
  });
  onTestsEnd(async () => {
    await running.stop({ graceMs: 2_000 });
  });
  return port;
}

async function knowsAll(port: number, replicas: number, sentinels: number): Promise<void> {
  const flat = (await redisCommand({ port }, ['SENTINEL', 'MASTER', MASTER_NAME], 1_000)) as string[];
  const value = (name: string): string | undefined => flat[flat.indexOf(name) + 1];
  const known = [value('num-slaves'), value('num-other-sentinels'), value('flags')].join(' ');
  const wanted = [String(replicas), String(sentinels - 1), 'master'].join(' ');
  if (known !== wanted) throw new Error(`a sentinel knows ${known}, not ${wanted}`);
}
