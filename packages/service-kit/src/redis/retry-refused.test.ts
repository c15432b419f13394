import { once } from 'node:events';
import { waitFor } from '@parley/testkit';
import { Redis } from 'ioredis';
import { startFakeRedis, type FakeAnswer, type FakeRedis } from './fake-redis.test-helper.js';
import type { ServerAddress } from './redis-target.js';
import { refusalOf, retryRefused } from './retry-refused.js';
import { writeTogether } from './write-together.js';

const TIMEOUT_MS = 300;
const open: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function connected(answer: FakeAnswer) {
  const server = await startFakeRedis(answer);
  open.push(() => server.close());
  const redis = new Redis(server.port, '127.0.0.1', {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: TIMEOUT_MS,
    disconnectTimeout: 50,
    retryStrategy: () => 1,
  });
  redis.on('error', () => undefined);
  writeTogether(redis);
  const redirections: ServerAddress[] = [];
  const retries = retryRefused(redis, { timeoutMs: TIMEOUT_MS, redirected: (to) => redirections.push(to) });
  open.push(() => {
    // On a connection that has ended it would start a timer.
    if (redis.status !== 'end') redis.disconnect();
  });
  await once(redis, 'ready');
  return { server, redis, redirections, retries };
}

const names = ({ commands }: FakeRedis) => commands.map((command) => command.join(' '));
/** Refuses the first `times` commands. */
const refusing =
  (times: number, refusal: string): FakeAnswer =>
  ([name], count) =>
    name === 'ping' ? '+PONG' : count <= times ? `-${refusal}` : '+OK';

describe('a command that was refused', () => {
  it.each([
    'TRYAGAIN Multiple keys request during rehashing of slot',
    'ASK 7 127.0.0.1:9',
    'CLUSTERDOWN Hash slot not served',
    'LOADING Redis is loading the dataset in memory',
    'ERR Script attempted to access a non local key in a cluster node script: 1, on @user_script:1.',
  ])('for now is given again on the same connection: %s', async (refusal) => {
    const { server, redis, redirections } = await connected(refusing(2, refusal));
    expect(await redis.set('a', '1')).toBe('OK');
    expect(names(server)).toEqual(['set a 1', 'set a 1', 'set a 1']);
    expect(server.connections).toBe(1);
    expect(redirections).toEqual([]);
  });

  it.each([
    ['MOVED 7 127.0.0.1:9', [{ host: '127.0.0.1', port: 9 }]],
    ['MOVED 7 :9', []],
    ["READONLY You can't write against a read only replica.", []],
    ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", []],
  ])('by the wrong server is given again on a new connection: %s', async (refusal, told) => {
    const { server, redis, redirections, retries } = await connected(refusing(1, refusal));
    expect(await redis.set('a', '1')).toBe('OK');
    expect(names(server)).toEqual(['set a 1', 'ping', 'set a 1']);
    expect(server.connections).toBe(2);
    expect(redirections).toEqual(told);
    expect(retries.isSwitching).toBe(false);
  });

  it('fails when its time is over, and is not given again after that', async () => {
    const { server, redis } = await connected(refusing(Infinity, 'TRYAGAIN later'));
    const since = performance.now();
    await expect(redis.set('a', '1')).rejects.toThrow('Command timed out');
    expect(performance.now() - since).toBeLessThan(2 * TIMEOUT_MS);
    const given = server.commands.length;
    expect(given).toBeGreaterThan(2);
    await expect(redis.set('b', '1')).rejects.toThrow('Command timed out');
    expect(names(server).slice(given + 1)).not.toContain('set a 1');
  });

  it.each(['WRONGTYPE Operation against a key', 'ERR no', 'NOREPLICAS Not enough good replicas to write.', 'OOM no'])(
    'for good fails at once: %s',
    async (refusal) => {
      const { server, redis } = await connected(refusing(1, refusal));
      await expect(redis.set('a', '1')).rejects.toThrow(refusal);
      expect(server.commands).toHaveLength(1);
    },
  );
});

describe('while the connection goes over to another server', () => {
  it('what is under way is answered first, and what comes is held until then, each once', async () => {
    const { server, redis } = await connected(([name, key]) => {
      if (name === 'ping') return '+PONG';
      return key === 'moved' && server.connections === 1 ? '-MOVED 7 127.0.0.1:9' : `+${String(key)}`;
    });
    const before = ['a', 'b', 'moved', 'c'].map((key) => redis.get(key));
    await waitFor(() => server.commands.length >= 4);
    const after = ['d', 'moved', 'e'].map((key) => redis.get(key));
    expect(await Promise.all([...before, ...after])).toEqual(['a', 'b', 'moved', 'c', 'd', 'moved', 'e']);
    expect(names(server).filter((command) => command === 'get a')).toHaveLength(1);
    expect(server.connections).toBe(2);
  });

  it('commands fail at once when there is none to be had', async () => {
    const { server, redis } = await connected(([name]) => (name === 'ping' ? '+PONG' : '-MOVED 7 127.0.0.1:9'));
    redis.once('close', () => void server.close());
    open.shift();
    const since = performance.now();
    await expect(redis.set('a', '1')).rejects.toThrow();
    expect(performance.now() - since).toBeLessThan(TIMEOUT_MS);
  });

  it('a bounded number of them waits', async () => {
    // It never says that all was answered, so the connection is not left.
    const { redis, retries } = await connected(([name]) => (name === 'ping' ? undefined : '-MOVED 7 127.0.0.1:9'));
    const first = redis.set('first', '1');
    const timedOut = expect(first).rejects.toThrow('Command timed out');
    await waitFor(() => retries.isSwitching, { intervalMs: 1 });
    const all = await Promise.allSettled(Array.from({ length: 1_200 }, (_, index) => redis.set(String(index), '1')));
    const reasons = all.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : 'carried out'));
    expect(reasons.filter((reason) => reason === 'Command timed out')).toHaveLength(999);
    expect(reasons.filter((reason) => reason === 'MOVED 7 127.0.0.1:9').length).toBeGreaterThanOrEqual(200);
    await timedOut;
  });

  it('the end of the connection is the end of what waits', async () => {
    const { redis } = await connected(() => '-TRYAGAIN later');
    const waits = redis.set('a', '1');
    const refused = expect(waits).rejects.toThrow('Connection is closed');
    await new Promise((resolve) => setTimeout(resolve, 10));
    redis.disconnect();
    await refused;
  });
});

it('a command that was lost with its connection is not given again: it may have been carried out', async () => {
  const { server, redis } = await connected(() => undefined);
  const lost = redis.set('a', '1');
  const failed = expect(lost).rejects.toThrow();
  await waitFor(() => server.commands.length === 1);
  server.cut();
  await failed;
  await once(redis, 'ready');
  expect(names(server)).toEqual(['set a 1']);
});

it('commands of a pipeline stand as they are', async () => {
  const { server, redis } = await connected(refusing(1, 'TRYAGAIN later'));
  const results = await redis.pipeline().set('a', '1').set('b', '1').exec();
  expect(results?.map(([error]) => error?.message)).toEqual(['TRYAGAIN later', undefined]);
  expect(server.commands).toHaveLength(2);
});

it('what is no refusal is none', () => {
  expect(refusalOf(new Error('MOVED'))).toBeUndefined();
  expect(refusalOf(new Error('Command timed out'))).toBeUndefined();
  expect(refusalOf(new Error('NOSCRIPT No matching script.'))).toBeUndefined();
});
