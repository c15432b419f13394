import { silentLogger } from '@parley/service-kit';
import { eventually, startRedis, waitFor } from '@parley/testkit';
import { Redis, type ChainableCommander } from 'ioredis';
import { RedisStore } from '../store/redis/redis-store.js';
import { agent, failure, HASH, ids, live, register, ReplicaBench, say } from '../testing/replica-bench.js';

const bench = new ReplicaBench().use();

test('two replicas tell the same events in the same order', async () => {
  const [one, two] = [await bench.replica(), await bench.replica()];
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
  const [one, two] = [await bench.replica(), await bench.replica()];
  await register(one, 'keeps', 3_000);
  await register(two, 'dies', 3_000);
  const keeps = agent(one, 'keeps', 3_000);
  try {
    await bench.redis.cli('FLUSHALL');
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
  const [one, two] = [await bench.replica(), await bench.replica()];
  await register(one, 'keeps', 2_000);
  await register(two, 'dies', 2_000);
  const keeps = agent(two, 'keeps', 2_000);
  try {
    await bench.redis.stop();
    await waitFor(() => one.core.status().state === 'stale' && two.core.status().state === 'stale');
    // Longer than the leases: without the guard and the standing clock both would be gone.
    await waitFor(() => one.core.nowMs() < Date.now() - 2_500, { timeoutMs: 6_000 });
    expect(ids(one)).toEqual(['dies', 'keeps']);
    expect(await failure(register(one, 'new'))).toMatchObject({ code: 'store_unavailable', status: 503 });
    await bench.redis.restart({ keepData: false });
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
  const [one, two] = [await bench.replica(), await bench.replica()];
  await register(one, 'a', 1_500);
  await two.core.applied(await register(one, 'b', 1_500));
  const before = one.told.length;
  const b = agent(two, 'b', 1_500);
  try {
    await bench.redis.cli('SAVE');
    await bench.redis.stop();
    await waitFor(() => one.core.nowMs() < Date.now() - 2_000, { timeoutMs: 6_000 });
    expect(ids(one)).toEqual(['a', 'b']);
    await bench.redis.restart({ keepData: true });
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

test('SCRIPT FLUSH goes unnoticed', async () => {
  const one = await bench.replica();
  await register(one, 'a');
  await bench.redis.cli('SCRIPT', 'FLUSH');
  const work = Array.from({ length: 20 }, (_, i) => register(one, `agent-${String(i)}`));
  await Promise.all([...work, one.core.renew('a', HASH), one.core.verifyOwner('a', HASH)]);
  expect(ids(one)).toHaveLength(21);
});

test('a Redis that comes back with older data is taken for another life of the log', async () => {
  const [one, two] = [await bench.replica(), await bench.replica()];
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

test('a promoted replica that others went on with: whoever only the old master knew stays until it is back', async () => {
  const one = await bench.replica();
  await register(one, 'old');
  const replica = await startRedis();
  await copyAll(bench.redis.url, replica.url);
  await one.core.applied(await register(one, 'lost'));
  // Whoever goes on there has seen nothing of what is lost, and goes on in the same epoch.
  const guard = { awayThresholdMs: 60_000, share: 1, minAgents: 1 };
  const promoted = { redis: { url: replica.url }, logger: silentLogger, guard, namespace: bench.namespace };
  const other = new RedisStore(promoted);
  await eventually(() => other.ping());
  for (const agentId of ['new-1', 'new-2', 'new-3']) {
    const manifestJson = JSON.stringify({ agent_id: agentId, name: agentId, endpoint: 'http://x', capabilities: ['translate'] });
    await other.register({ agentId, manifestJson, ttlMs: 30_000, newTokenHash: HASH });
  } // prettier-ignore
  await other.close();
  await copyAll(replica.url, bench.redis.url);
  await waitFor(() => say(one.told).includes('resync epoch_changed'));
  expect(ids(one)).toEqual(['lost', 'new-1', 'new-2', 'new-3', 'old']);

  const two = await bench.replica();
  expect(ids(two)).not.toContain('lost');
  expect(await failure(two.core.renew('lost', HASH))).toMatchObject({ code: 'lease_unknown' });
  const revision = await register(two, 'lost');
  await one.core.applied(revision);
  // New to those who watch here, and never gone for those who watch there.
  expect(say(two.told, 'lost')).toEqual(['registered lost']);
  expect(say(one.told, 'lost').at(-1)).toBe('updated lost');
}, 20_000);

test('the order of deadlines is rebuilt from the records when it is gone', async () => {
  const one = await bench.replica();
  await register(one, 'a');
  await register(one, 'b', 1_500);
  await bench.redis.cli('DEL', `{${bench.namespace}}:deadlines`);
  const two = await bench.replica();
  expect(ids(two)).toEqual(['a', 'b']);
  await waitFor(() => say(two.told).includes('expired b'), { timeoutMs: 4_000 });
  expect(ids(one)).toEqual(['a']);
}, 20_000);

/** Makes one Redis what another one is, in one step that also ends all connections to it. */
async function copyAll(from: string, to: string): Promise<void> {
  const saved = await dumpOf(from);
  await become(to, saved, (step) => step.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
}

/** Puts all of Redis back to what it was at the time of the call, in one step. */
async function memoryOfNow(): Promise<() => Promise<void>> {
  const { url } = bench.redis;
  const saved = await dumpOf(url);
  return () => become(url, saved);
}

type Dump = readonly (readonly [key: string, value: Buffer])[];

async function dumpOf(url: string): Promise<Dump> {
  const reader = new Redis(url);
  const keys = await reader.keys('*');
  const saved = await Promise.all(keys.map(async (key) => [key, await reader.dumpBuffer(key)] as const));
  reader.disconnect();
  return saved;
}

async function become(url: string, saved: Dump, more?: (step: ChainableCommander) => unknown): Promise<void> {
  const writer = new Redis(url);
  const step = writer.multi().flushall();
  for (const [key, value] of saved) step.restore(key, 0, value);
  more?.(step);
  await step.exec();
  writer.disconnect();
}
