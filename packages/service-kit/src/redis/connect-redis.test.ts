import { once } from 'node:events';
import { jest } from '@jest/globals';
import { startRedis, startSilentListener, waitFor, type RedisServer } from '@parley/testkit';
import { AppError } from '../errors/app-error.js';
import { closeRedis, storeUnavailable, type ConnectRedisOptions } from './connect-redis.js';
import { connections } from './connections.test-helper.js';

const open = connections();
let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
}, 60_000);

function connect(options: Partial<ConnectRedisOptions> = {}) {
  return open({ url: server.url, ...options });
}

async function connected(options: Partial<ConnectRedisOptions> = {}) {
  const connection = connect(options);
  await once(connection.redis, 'ready');
  return connection;
}

/** What became of something, and how long that took. */
async function timed<T>(
  work: Promise<T>,
): Promise<{ readonly value?: T; readonly error?: unknown; readonly ms: number }> {
  const started = performance.now();
  try {
    return { value: await work, ms: performance.now() - started };
  } catch (error) {
    return { error, ms: performance.now() - started };
  }
}

describe('a connection to Redis', () => {
  it('has a name that the server knows', async () => {
    const { redis } = await connected({ name: 'registry-1' });
    expect(await redis.client('GETNAME')).toBe('registry-1');
  });

  it.each([true, false])('answers many commands at once, each its own (in one write: %s)', async (pipelining) => {
    const { redis } = await connected({ pipelining });
    const numbers = Array.from({ length: 500 }, (_, index) => String(index));
    await Promise.all(numbers.map((number) => redis.set(`many:${number}`, number)));
    expect(await Promise.all(numbers.map((number) => redis.get(`many:${number}`)))).toEqual(numbers);
    const results = await redis.multi().set('many:x', 'y').get('many:x').exec();
    expect(results).toEqual([
      [null, 'OK'],
      [null, 'y'],
    ]);
    await expect(redis.hget('many:x', 'field')).rejects.toThrow('WRONGTYPE');
  });

  it('puts the commands of one turn into one write', async () => {
    const { redis } = await connected();
    await redis.ping();
    const { stream } = redis;
    const before = stream.bytesWritten;
    let writes = 0;
    const { _writev: writeMany } = stream as unknown as { _writev: (...args: unknown[]) => void };
    Object.assign(stream, {
      _writev: function (...args: unknown[]) {
        writes += 1;
        writeMany.apply(this, args);
      },
    });
    await Promise.all(Array.from({ length: 50 }, () => redis.ping()));
    expect(stream.bytesWritten).toBeGreaterThan(before);
    expect(writes).toBe(1);
  });
});

describe('while Redis is down', () => {
  const nowhere = { url: 'redis://127.0.0.1:1' };

  it('a command fails at once, and nothing is printed or left unhandled', async () => {
    const { redis, lines } = connect(nowhere);
    let attempts = 0;
    redis.on('reconnecting', () => (attempts += 1));
    await waitFor(() => attempts > 0);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { error, ms } = await timed(redis.get('a'));
      expect(error).toBeInstanceOf(Error);
      expect(ms).toBeLessThan(500);
    }
    await waitFor(() => attempts > 3);
    // However often it tries, its owner hears of it once.
    expect(lines).toMatchObject([
      { level: 'warn', msg: 'Redis cannot be reached', connection: 'test', error: { code: 'ECONNREFUSED' } },
    ]);
  });

  it('a peer that takes the connection and says nothing is no Redis either', async () => {
    const silent = await startSilentListener();
    const { redis } = connect({ url: `redis://127.0.0.1:${String(silent.port)}`, commandTimeoutMs: 100 });
    await waitFor(() => silent.accepted >= 2);
    const { error, ms } = await timed(redis.get('a'));
    expect(error).toBeDefined();
    expect(ms).toBeLessThan(1_000);
  });

  it('closing returns at once, also twice, and the connection does not come back', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
    try {
      const { redis } = connect(nowhere);
      await waitFor(() => redis.status === 'reconnecting');
      await closeRedis(redis);
      await closeRedis(redis);
      let connecting = false;
      redis.on('connecting', () => (connecting = true));
      await jest.advanceTimersByTimeAsync(60_000);
      expect(connecting).toBe(false);
    } finally {
      jest.useRealTimers();
    }
  });

  it('commands under way fail when the connection is lost, also without a time-out, and none is sent again', async () => {
    const own = await startRedis();
    const { redis } = await connected({ url: own.url, blocking: true });
    const blocked = timed(redis.xread('BLOCK', 0, 'STREAMS', 'log', '$'));
    const { redis: other } = await connected({ url: own.url, commandTimeoutMs: 60_000 });
    const popped = timed(other.blpop('list', 0));
    await waitFor(async () => String(await own.cli('INFO', 'clients')).includes('blocked_clients:2'));
    await own.restart({ keepData: false });
    expect((await blocked).error).toBeInstanceOf(Error);
    expect((await popped).error).toBeInstanceOf(Error);
    await waitFor(() => redis.status === 'ready');
    expect(String(await own.cli('INFO', 'clients'))).toContain('blocked_clients:0');
  });

  it('comes back by itself after restarts, and says so', async () => {
    const own = await startRedis();
    const { redis, lines } = await connected({ url: own.url });
    for (let round = 0; round < 2; round += 1) {
      await own.stop();
      await waitFor(() => lines.at(-1)?.['msg'] === 'Redis cannot be reached');
      const { error, ms } = await timed(redis.set('a', '1'));
      expect(error).toBeDefined();
      expect(ms).toBeLessThan(1_000);
      await own.restart({ keepData: false });
      await waitFor(() => redis.status === 'ready');
      expect(await redis.set('a', '1')).toBe('OK');
    }
    expect(lines.map(({ msg }) => msg)).toEqual([
      'Redis cannot be reached',
      'Redis can be reached again',
      'Redis cannot be reached',
      'Redis can be reached again',
    ]);
  });
});

describe('while Redis is frozen', () => {
  afterEach(() => server.resume());

  it('a command fails within its time-out', async () => {
    const { redis } = await connected();
    server.pause();
    const { error, ms } = await timed(redis.get('a'));
    expect(error).toBeInstanceOf(Error);
    expect(ms).toBeLessThan(1_000);
  });

  it('the connection is given up, later commands fail at once, and it is back when Redis is', async () => {
    const { redis } = await connected({ commandTimeoutMs: 100 });
    server.pause();
    const closed = new Promise((resolve) => redis.once('close', resolve));
    await timed(redis.set('frozen', '1'));
    await closed;
    const { ms } = await timed(redis.get('a'));
    expect(ms).toBeLessThan(200);
    await server.resume();
    await waitFor(() => redis.status === 'ready');
    expect(await redis.ping()).toBe('PONG');
  });

  it('a blocking connection fails after its silence', async () => {
    const { redis } = await connected({ blocking: true, silenceMs: 100 });
    server.pause();
    const { error, ms } = await timed(redis.xread('BLOCK', 50, 'STREAMS', 'log', '$'));
    expect(error).toBeInstanceOf(Error);
    expect(ms).toBeLessThan(1_000);
  });

  it('closing returns in bounded time', async () => {
    const { redis } = await connected();
    server.pause();
    const { ms } = await timed(closeRedis(redis, 100));
    expect(ms).toBeLessThan(1_000);
    await waitFor(() => redis.status === 'end');
  });
});

describe('closeRedis', () => {
  it('waits for commands under way and ends the connection', async () => {
    const { redis } = await connected();
    const answer = redis.set('last', 'word');
    await closeRedis(redis);
    expect([await answer, redis.status]).toEqual(['OK', 'end']);
    await closeRedis(redis);
    expect(await server.cli('GET', 'last')).toBe('word');
  });
});

describe('storeUnavailable', () => {
  it('tells whoever asked to come back, and keeps the cause for the log', () => {
    const cause = new Error('Command timed out');
    expect(storeUnavailable(cause)).toMatchObject({
      reason: 'unavailable',
      code: 'store_unavailable',
      retryAfterSeconds: 1,
      cause,
    });
    expect(storeUnavailable(cause).message).not.toContain('timed out');
  });

  it('passes errors of our own', () => {
    const own = new AppError('conflict', 'taken');
    expect(storeUnavailable(own)).toBe(own);
  });
});
