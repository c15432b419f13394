import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { AppError } from '@parley/service-kit';
import { eventually, waitFor } from '@parley/testkit';
import { agent, failure, HASH, ids, live, register, ReplicaBench, say } from '../testing/replica-bench.js';

const bench = new ReplicaBench().use();

test('connections that fall silent without closing are replaced, and nothing is missed', async () => {
  const line = await cuttableLine(bench.redis.port);
  const [far, near] = [await bench.replica({ url: `redis://127.0.0.1:${String(line.port)}` }), await bench.replica()];
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
  const [one, two] = [await bench.replica({ maxStaleMs: 3_000 }), await bench.replica()];
  await two.core.applied(await register(one, 'a', 1_500));
  bench.redis.pause();
  const startedAt = performance.now();
  const failures = await Promise.all([
    failure(register(one, 'ghost')),
    failure(one.core.renew('a', HASH)),
    failure(two.core.ping()),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(1_800);
  for (const each of failures) expect(each).toMatchObject({ code: 'store_unavailable', status: 503 });
  await waitFor(() => one.core.status().state === 'stale');
  expect(ids(one)).toEqual(['a']);
  await waitFor(() => one.core.status().state === 'unavailable', { timeoutMs: 5_000 });
  expect(() => ids(one)).toThrow(AppError);
  expect(ids(two)).toEqual(['a']);

  await bench.redis.resume();
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
  const one = await bench.replica();
  bench.redis.pause();
  const startedAt = performance.now();
  await one.core.stop();
  await one.store.close();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
}, 20_000);

test('renewals that are lost on the way hide nobody in the other replica', async () => {
  const [one, two] = [await bench.replica({ losesRenewals: true }), await bench.replica()];
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

test('a full or read-only Redis refuses what would grow and lets the living go on', async () => {
  const one = await bench.replica();
  await register(one, 'a', 2_000);
  await bench.redis.cli('CONFIG', 'SET', 'maxmemory', '1');
  try {
    expect(await failure(register(one, 'b'))).toMatchObject({ code: 'store_unavailable' });
    expect((await one.core.renew('a', HASH)).ttlMs).toBe(2_000);
    expect(await one.core.verifyOwner('a', HASH)).toBe('owner');
    expect(one.core.status().state).toBe('live');
    await waitFor(() => say(one.told).includes('expired a'), { timeoutMs: 5_000 });
  } finally {
    await bench.redis.cli('CONFIG', 'SET', 'maxmemory', '0');
  }
  await bench.redis.cli('REPLICAOF', '127.0.0.1', '1');
  try {
    expect(await failure(register(one, 'b'))).toMatchObject({ code: 'store_unavailable' });
    expect(await failure(one.core.renew('a', HASH))).toMatchObject({ code: 'store_unavailable' });
    await waitFor(() => one.core.status().state === 'stale');
  } finally {
    await bench.redis.cli('REPLICAOF', 'NO', 'ONE');
  }
  await live(one);
  await eventually(() => register(one, 'b'));
  expect(ids(one)).toEqual(['b']);
}, 20_000);

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
