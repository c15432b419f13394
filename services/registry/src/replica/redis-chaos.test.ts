import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { AppError, silentLogger } from '@parley/service-kit';
import { eventually, startRedis, waitFor, type RedisServer } from '@parley/testkit';
import { Redis } from 'ioredis';
import { RedisStore } from '../store/redis/redis-store.js';
import type { RegistryCore, RegistryEvent, ResyncEvent } from './core-types.js';
import { createRegistryCore } from './registry-core.js';

const GUARD = { awayThresholdMs: 1_000, share: 0.5, minAgents: 1 };
const HASH = 'hash-of-the-owners-token';

interface Replica {
  readonly core: RegistryCore;
  readonly store: RedisStore;
  readonly told: (RegistryEvent | ResyncEvent)[];
}

let redis: RedisServer;
let namespace: string;
const running: Replica[] = [];

beforeAll(async () => {
  redis = await startRedis();
}, 30_000);

beforeEach(() => {
  namespace = `test-${randomUUID()}`;
});

afterEach(async () => {
  await redis.resume();
  for (const { core, store } of running.splice(0)) {
    await core.stop();
    await store.close();
  }
});

class ForgetfulStore extends RedisStore {
  override publishRenewals(): Promise<void> {
    return Promise.resolve();
  }
}

async function replica(options: { losesRenewals?: boolean; maxStaleMs?: number; url?: string } = {}): Promise<Replica> {
  const Store = options.losesRenewals === true ? ForgetfulStore : RedisStore;
  const store = new Store({ url: options.url ?? redis.url, logger: silentLogger, guard: GUARD, namespace });
  const core = createRegistryCore({
    store,
    logger: silentLogger,
    settings: { sweepIntervalMs: 200, renewalBatchMs: 50, guard: GUARD, maxStaleMs: options.maxStaleMs ?? 60_000 },
  });
  const made = { core, store, told: [] as (RegistryEvent | ResyncEvent)[] };
  running.push(made);
  await core.start();
  core.subscribe((event) => made.told.push(event));
  await waitFor(() => core.status().state === 'live', { what: 'a live replica' });
  return made;
}

async function register({ core }: Replica, agentId: string, ttlMs = 30_000): Promise<number> {
  const { revision } = await core.register({
    manifest: { agentId, name: agentId, endpoint: 'http://x', capabilities: ['translate'] },
    ttlMs,
    callerTokenHash: HASH,
    newTokenHash: HASH,
  });
  return revision;
}

function ids({ core }: Replica): string[] {
  return core.discover({ required: ['translate'] }).agents.map(({ agentId }) => agentId);
}

function say(events: readonly (RegistryEvent | ResyncEvent)[], agentId?: string): string[] {
  return events
    .filter((event) => agentId === undefined || ('agentId' in event && event.agentId === agentId))
    .map((event) =>
      event.type === 'resync' ? `resync ${event.reason}` : `${event.type} ${'agentId' in event ? event.agentId : ''}`,
    );
}

async function failure(promise: Promise<unknown>): Promise<AppError> {
  return promise.then(
    () => {
      throw new Error('nothing failed');
    },
    (error: unknown) => AppError.from(error),
  );
}

async function live(...replicas: readonly Replica[]): Promise<void> {
  for (const { core } of replicas) {
    await waitFor(() => core.status().state === 'live', { timeoutMs: 10_000, what: 'a live replica' });
  }
}

/** An agent of two calls: it renews, and registers again when it is told that its lease is unknown. */
function agent(at: Replica, agentId: string, ttlMs: number): { stop(): void; readonly again: () => number } {
  let again = 0;
  const beat = setInterval(() => {
    at.core.renew(agentId, HASH).catch(async (error: unknown) => {
      if (AppError.from(error).code !== 'lease_unknown') return;
      again++;
      await register(at, agentId, ttlMs).catch(() => undefined);
    });
  }, ttlMs / 3);
  return {
    stop: () => {
      clearInterval(beat);
    },
    again: () => again,
  };
}

test('two replicas tell the same events in the same order', async () => {
  const [one, two] = [await replica(), await replica()];
  const [start] = [one.core.agents().revision];
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const at = i % 2 === 0 ? one : two;
      await register(at, `agent-${String(i)}`, i % 3 === 0 ? 1_000 : 30_000);
      if (i % 5 === 0) await at.core.deregister(`agent-${String(i)}`, { tokenHash: HASH });
      if (i % 7 === 0) await register(at, `agent-${String(i)}`);
    }),
  );
  const expired = (): number => one.told.filter(({ type }) => type === 'expired').length;
  await waitFor(() => expired() > 0 && one.told.length === two.told.length, { timeoutMs: 4_000 });
  await eventually(() => {
    expect(one.told.map(({ revision }) => revision)).toEqual(one.told.map((_, i) => start + 1 + i));
    expect(say(two.told)).toEqual(say(one.told));
  });
  expect(new Set(say(one.told).filter((line) => line.startsWith('expired'))).size).toBe(expired());
  expect(ids(two)).toEqual(ids(one));
}, 20_000);

test('FLUSHALL: everybody stays listed, comes back within a heartbeat, and who does not expires once', async () => {
  const [one, two] = [await replica(), await replica()];
  await register(one, 'keeps', 3_000);
  await register(two, 'dies', 3_000);
  const keeps = agent(one, 'keeps', 3_000);
  try {
    await redis.cli('FLUSHALL');
    const flushedAt = performance.now();
    let hidden = 0;
    await waitFor(
      () => {
        if (!ids(one).includes('keeps') || !ids(two).includes('keeps')) hidden++;
        return say(two.told).includes('expired dies') && say(one.told).includes('expired dies');
      },
      { timeoutMs: 6_000, intervalMs: 5 },
    );
    expect(performance.now() - flushedAt).toBeGreaterThan(1_000);
    expect(hidden).toBe(0);
    expect(keeps.again()).toBe(1);
    for (const { told } of [one, two]) {
      expect(say(told).filter((line) => line.startsWith('resync'))).toEqual(['resync epoch_changed']);
      expect(say(told, 'keeps').filter((line) => line !== 'registered keeps')).toEqual(['updated keeps']);
      expect(say(told, 'dies').slice(-1)).toEqual(['expired dies']);
      expect(say(told, 'dies').filter((line) => line === 'expired dies')).toHaveLength(1);
      const revisions = told.map(({ revision }) => revision);
      expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    }
    await live(one, two);
    expect(ids(one)).toEqual(['keeps']);
    expect(ids(two)).toEqual(['keeps']);
  } finally {
    keeps.stop();
  }
}, 20_000);

test('Redis restarts empty: nobody vanishes for it, and one that never comes back expires once', async () => {
  const [one, two] = [await replica(), await replica()];
  await register(one, 'keeps', 2_000);
  await register(two, 'dies', 2_000);
  const keeps = agent(two, 'keeps', 2_000);
  try {
    await redis.stop();
    await waitFor(() => one.core.status().state === 'stale' && two.core.status().state === 'stale');
    // Longer than the leases: without the guard and the standing clock both would be gone.
    await waitFor(() => one.core.nowMs() < Date.now() - 2_500, { timeoutMs: 6_000 });
    expect(ids(one)).toEqual(['dies', 'keeps']);
    expect(await failure(register(one, 'new'))).toMatchObject({ code: 'store_unavailable', status: 503 });
    await redis.restart({ keepData: false });
    await live(one, two);
    expect(ids(one)).toEqual(['dies', 'keeps']);
    expect(ids(two)).toEqual(['dies', 'keeps']);
    await waitFor(() => say(one.told).includes('expired dies') && say(two.told).includes('expired dies'), {
      timeoutMs: 6_000,
    });
    expect(ids(one)).toEqual(['keeps']);
    expect(ids(two)).toEqual(['keeps']);
    for (const { told } of [one, two]) {
      expect(say(told, 'dies').filter((line) => line === 'expired dies')).toHaveLength(1);
      expect(say(told, 'keeps')).not.toContain('expired keeps');
    }
  } finally {
    keeps.stop();
  }
}, 30_000);

test('Redis restarts with its data: no resync, no expiry, leases count from the return', async () => {
  const [one, two] = [await replica(), await replica()];
  await register(one, 'a', 1_500);
  await two.core.applied(await register(one, 'b', 1_500));
  const before = one.told.length;
  const b = agent(two, 'b', 1_500);
  try {
    await redis.cli('SAVE');
    await redis.stop();
    await waitFor(() => one.core.nowMs() < Date.now() - 2_000, { timeoutMs: 6_000 });
    expect(ids(one)).toEqual(['a', 'b']);
    await redis.restart({ keepData: true });
    await live(one, two);
    await one.core.applied(await register(two, 'c'));
    expect(ids(one)).toEqual(['a', 'b', 'c']);
    expect(b.again()).toBe(0);
    await waitFor(() => say(one.told).includes('expired a'), { timeoutMs: 4_000 });
    expect(say(one.told.slice(before))).toEqual(['registered c', 'expired a']);
    expect(ids(two)).toEqual(['b', 'c']);
  } finally {
    b.stop();
  }
}, 20_000);

test('connections that fall silent without closing are replaced, and nothing is missed', async () => {
  const line = await cuttableLine(redis.port);
  const [far, near] = [await replica({ url: `redis://127.0.0.1:${String(line.port)}` }), await replica()];
  try {
    line.cut();
    const revision = await register(near, 'a');
    await waitFor(() => far.core.status().state === 'stale');
    expect(await far.core.applied(revision, { timeoutMs: 10_000 })).toBe(true);
    await live(far);
    expect(say(far.told)).toEqual(['registered a']);
    expect((await far.core.renew('a', HASH)).ttlMs).toBe(30_000);
  } finally {
    await line.close();
  }
}, 20_000);

test('a frozen Redis: writes fail within a second, reads go on, and nothing is carried out late', async () => {
  const [one, two] = [await replica({ maxStaleMs: 3_000 }), await replica()];
  await two.core.applied(await register(one, 'a', 1_500));
  redis.pause();
  const startedAt = performance.now();
  const failures = await Promise.all([
    failure(register(one, 'ghost')),
    failure(one.core.renew('a', HASH)),
    failure(two.core.ping()),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(1_100);
  for (const each of failures) expect(each).toMatchObject({ code: 'store_unavailable', status: 503 });
  await waitFor(() => one.core.status().state === 'stale');
  expect(ids(one)).toEqual(['a']);
  await waitFor(() => one.core.status().state === 'unavailable', { timeoutMs: 5_000 });
  expect(() => ids(one)).toThrow(AppError);
  expect(ids(two)).toEqual(['a']);

  await redis.resume();
  await live(one, two);
  expect(ids(one)).toEqual(['a']);
  expect(await one.core.verifyOwner('ghost', HASH)).toBe('unknown');
  expect((await one.core.renew('a', HASH)).ttlMs).toBe(1_500);
  // The log is followed again as well.
  const revision = await register(two, 'b');
  expect(await one.core.applied(revision, { timeoutMs: 3_000 })).toBe(true);
  expect(say(one.told)).not.toContain('expired a');
}, 30_000);

test('stopping with a frozen Redis takes bounded time', async () => {
  const one = await replica();
  redis.pause();
  const startedAt = performance.now();
  await one.core.stop();
  await one.store.close();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  running.length = 0;
}, 20_000);

test('SCRIPT FLUSH goes unnoticed', async () => {
  const one = await replica();
  await register(one, 'a');
  await redis.cli('SCRIPT', 'FLUSH');
  const work = Array.from({ length: 20 }, (_, i) => register(one, `agent-${String(i)}`));
  await Promise.all([...work, one.core.renew('a', HASH), one.core.verifyOwner('a', HASH)]);
  expect(ids(one)).toHaveLength(21);
});

test('renewals that are lost on the way hide nobody in the other replica', async () => {
  const [one, two] = [await replica({ losesRenewals: true }), await replica()];
  await two.core.applied(await register(one, 'a', 1_500));
  const { agent: known } = two.core.get('a');
  const a = agent(one, 'a', 1_500);
  try {
    let hidden = 0;
    await waitFor(
      () => {
        if (!ids(two).includes('a')) hidden++;
        return two.store.now() > known.registeredAtMs + 4_500;
      },
      { timeoutMs: 6_000, intervalMs: 2 },
    );
    expect(hidden).toBe(0);
    expect(say(two.told)).toEqual(['registered a']);
  } finally {
    a.stop();
  }
}, 20_000);

test('a Redis that comes back with older data is taken for another life of the log', async () => {
  const [one, two] = [await replica(), await replica()];
  await register(one, 'old');
  const goBack = await memoryOfNow();
  await register(one, 'lost');
  const seen = await register(two, 'lost too');
  await one.core.applied(seen);
  await two.core.applied(seen);
  await goBack();
  await waitFor(() => say(one.told).includes('resync epoch_changed') && say(two.told).includes('resync epoch_changed'));
  expect(ids(one)).toEqual(['lost', 'lost too', 'old']);
  const revision = await register(one, 'lost');
  expect(revision).toBeGreaterThan(seen);
  expect(await two.core.applied(revision)).toBe(true);
  expect(say(two.told, 'lost').at(-1)).toBe('updated lost');
}, 20_000);

test('a full or read-only Redis refuses what would grow and lets the living go on', async () => {
  const one = await replica();
  await register(one, 'a', 2_000);
  await redis.cli('CONFIG', 'SET', 'maxmemory', '1');
  try {
    expect(await failure(register(one, 'b'))).toMatchObject({ code: 'store_unavailable' });
    expect((await one.core.renew('a', HASH)).ttlMs).toBe(2_000);
    expect(await one.core.verifyOwner('a', HASH)).toBe('owner');
    expect(one.core.status().state).toBe('live');
    await waitFor(() => say(one.told).includes('expired a'), { timeoutMs: 5_000 });
  } finally {
    await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
  }
  await redis.cli('REPLICAOF', '127.0.0.1', '1');
  try {
    expect(await failure(register(one, 'b'))).toMatchObject({ code: 'store_unavailable' });
    expect(await failure(one.core.renew('a', HASH))).toMatchObject({ code: 'store_unavailable' });
    await waitFor(() => one.core.status().state === 'stale');
  } finally {
    await redis.cli('REPLICAOF', 'NO', 'ONE');
  }
  await live(one);
  await eventually(() => register(one, 'b'));
  expect(ids(one)).toEqual(['b']);
}, 20_000);

test('the order of deadlines is rebuilt from the records when it is gone', async () => {
  const one = await replica();
  await register(one, 'a');
  await register(one, 'b', 1_500);
  await redis.cli('DEL', `{${namespace}}:deadlines`);
  const two = await replica();
  expect(ids(two)).toEqual(['a', 'b']);
  await waitFor(() => say(two.told).includes('expired b'), { timeoutMs: 4_000 });
  expect(ids(one)).toEqual(['a']);
}, 20_000);

/** Puts all of Redis back to what it was at the time of the call, in one step. */
async function memoryOfNow(): Promise<() => Promise<void>> {
  const client = (): Redis => new Redis(redis.url);
  const reader = client();
  const saved: [string, Buffer][] = [];
  for (const key of await reader.keys('*')) saved.push([key, await reader.dumpBuffer(key)]);
  reader.disconnect();
  return async () => {
    const writer = client();
    const step = writer.multi().flushall();
    for (const [key, value] of saved) step.restore(key, 0, value);
    await step.exec();
    writer.disconnect();
  };
}

/** A way to Redis on which everything that is open can be made silent, while new connections work. */
async function cuttableLine(to: number): Promise<{ readonly port: number; cut(): void; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket)).on('error', () => undefined);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      for (const socket of open) {
        socket.unpipe();
        socket.removeAllListeners('end');
        socket.pause();
      }
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
