import { randomUUID } from 'node:crypto';
import { AppError, silentLogger } from '@parley/service-kit';
import { eventually, startRedis, type RedisServer } from '@parley/testkit';
import type { AgentRecord } from '../../domain/types.js';
import type { RegisterCommand } from '../store.js';
import { steadyNow } from '../steady-clock.js';
import { RedisStore, type RedisStoreOptions } from './redis-store.js';

const guard = { awayThresholdMs: 60_000, share: 0.5, minAgents: 1 };
let redis: RedisServer;
let namespace: string;
let store: RedisStore;

beforeAll(async () => {
  redis = await startRedis();
}, 30_000);

beforeEach(async () => {
  namespace = `test-${randomUUID()}`;
  store = await open();
});

afterEach(async () => {
  await redis.resume();
  await store.close();
});

async function open(more: Partial<RedisStoreOptions> = {}): Promise<RedisStore> {
  const opened = new RedisStore({ redis: { url: redis.url }, logger: silentLogger, guard, namespace, ...more });
  await eventually(() => opened.ping());
  return opened;
}

const command = (agentId: string, ttlMs = 60_000): RegisterCommand => ({
  agentId,
  manifestJson: `{"agent_id":"${agentId}"}`,
  ttlMs,
  newTokenHash: 'hash',
});

async function records(): Promise<AgentRecord[]> {
  const all: AgentRecord[] = [];
  for await (const batch of (await store.snapshot()).records) all.push(...batch);
  return all;
}

async function failure(promise: Promise<unknown>): Promise<AppError> {
  return promise.then(
    () => {
      throw new Error('nothing failed');
    },
    (error: unknown) => AppError.from(error),
  );
}

test('a record lives under one key with a time to live that outlasts its deadline', async () => {
  await store.register(command('a', 5_000));
  const ttl = Number(await redis.cli('PTTL', `{${namespace}}:agent:a`));
  expect(ttl).toBeGreaterThan(600_000);
  expect(ttl).toBeLessThanOrEqual(605_000);
  await store.deregister('a', { operator: true });
  expect(await redis.cli('EXISTS', `{${namespace}}:agent:a`)).toBe(0);
});

test('every key carries the one hash tag of the namespace, and namespaces do not meet', async () => {
  await store.register(command('a'));
  await store.publishRenewals([{ agentId: 'a', revision: 1, deadlineMs: 1 }]);
  await store.recordAgreement({
    ...{ agreementId: 'g', version: 1, state: 'active', parties: ['a', 'b'] },
    ...{ json: '{}', ttlMs: 1_000, changeType: 'agreed' },
  });
  await store.sweep({ limit: 10, guard });
  const keys = (await redis.cli('KEYS', `*${namespace}*`)) as string[];
  expect(keys).toHaveLength(10);
  for (const key of keys) expect(key.startsWith(`{${namespace}}:`)).toBe(true);
  const other = await open({ namespace: `${namespace}-2` });
  expect(await other.register(command('a'))).toMatchObject({ kind: 'registered' });
  await other.close();
});

test('a user with the rights to its own keys, and without dangerous commands, suffices', async () => {
  const rights = ['on', '>secret', `~{${namespace}}:*`, '+@all', '-@dangerous', '+info'];
  await redis.cli('ACL', 'SETUSER', 'registry', ...rights);
  const few = await open({ redis: { url: redis.url, username: 'registry', password: 'secret' } });
  await few.register(command('a'));
  await few.register(command('b', 1));
  await redis.cli('DEL', `{${namespace}}:deadlines`);
  const { position } = await few.snapshot();
  await few.publishRenewals([{ agentId: 'a', revision: 1, deadlineMs: 1 }]);
  await few.recordAgreement({
    ...{ agreementId: 'g', version: 1, state: 'active', parties: ['a', 'b'] },
    ...{ json: '{}', ttlMs: 1_000, changeType: 'agreed' },
  });
  expect(await few.getAgreement('g')).toMatchObject({ state: 'active' });
  await eventually(async () => expect(await few.sweep({ limit: 10, guard })).toMatchObject({ expired: 1 }));
  const types: string[] = [];
  for await (const { changes } of few.changes(position, new AbortController().signal)) {
    types.push(...changes.map(({ type }) => type));
    if (types.length >= 2) break;
  }
  expect(types).toEqual(['agreed', 'expired']);
  await few.close();
});

test.each([60_000, -60_000])('a clock of this machine that is set by %d ms costs nothing', async (jumpMs) => {
  await store.close();
  let ahead = 0;
  store = await open({ now: () => steadyNow() + ahead });
  await store.register(command('a'));
  ahead = jumpMs;
  expect(await store.register(command('b'))).toMatchObject({ kind: 'registered' });
  expect(await store.renew('a', 'hash')).toMatchObject({ kind: 'renewed' });
  expect(Math.abs(store.now() - Date.now())).toBeLessThan(1_000);
});

test('what a frozen Redis takes up only after its time is not carried out', async () => {
  await store.register(command('a'));
  redis.pause();
  const startedAt = performance.now();
  const failures = await Promise.all([
    failure(store.register(command('ghost'))),
    failure(store.deregister('a', { tokenHash: 'hash' })),
    failure(store.ping()),
    failure(store.snapshot()),
    failure(store.deadlinesOf(['a'])),
    failure(store.publishRenewals([{ agentId: 'a', revision: 1, deadlineMs: 1 }])),
    failure(store.getAgreement('g')),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  for (const each of failures) expect(each).toMatchObject({ reason: 'unavailable', code: 'store_unavailable' });
  await redis.resume();
  await eventually(() => store.ping());
  expect((await records()).map(({ agentId }) => agentId)).toEqual(['a']);
});

test('nothing that listens: everything fails at once', async () => {
  const nowhere = new RedisStore({ redis: { url: 'redis://127.0.0.1:1' }, logger: silentLogger, guard, namespace });
  const startedAt = performance.now();
  expect(await failure(nowhere.register(command('a')))).toMatchObject({ code: 'store_unavailable' });
  expect(await failure(nowhere.sweep({ limit: 1, guard }))).toMatchObject({ code: 'store_unavailable' });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  await nowhere.close();
});

test('revisions go on growing over the loss of all data, and the epoch tells', async () => {
  const first = await store.register(command('a'));
  const before = (await store.snapshot()).position;
  await redis.cli('FLUSHALL');
  const second = await store.register(command('a'));
  const after = (await store.snapshot()).position;
  expect('revision' in first && 'revision' in second && second.revision > first.revision).toBe(true);
  expect(after.epoch).not.toBe(before.epoch);
  // Also for a store that has seen more than the clock shows.
  const far = Date.now() + 1e9;
  await redis.cli('SET', `{${namespace}}:revision`, String(far));
  await store.snapshot();
  await redis.cli('FLUSHALL');
  expect((await store.snapshot()).position.revision).toBeGreaterThanOrEqual(far);
});

test('a record that outlived its deadline and its sweep is over, whatever Redis has removed', async () => {
  await store.register(command('a', 30));
  await redis.cli('DEL', `{${namespace}}:agent:a`);
  await eventually(async () => {
    expect(await store.sweep({ limit: 10, guard })).toMatchObject({ expired: 1 });
  });
  expect(await redis.cli('ZCARD', `{${namespace}}:deadlines`)).toBe(0);
});

test('a place in the order of deadlines that is too early is mended, not believed', async () => {
  await store.register(command('a'));
  await redis.cli('ZADD', `{${namespace}}:deadlines`, '5', 'a');
  expect(await store.sweep({ limit: 10, guard })).toMatchObject({ expired: 0, guarded: 0, more: false });
  const [view] = await store.deadlinesOf(['a']);
  expect(Number(await redis.cli('ZSCORE', `{${namespace}}:deadlines`, 'a'))).toBe(
    view !== undefined && 'deadlineMs' in view && view.deadlineMs,
  );
});

test('a log in which the same revision means another change is not followed', async () => {
  const result = await store.register(command('a'));
  const { position } = await store.snapshot();
  expect('revision' in result && result.revision).toBe(position.revision);
  // A replica was promoted that had not heard of the last change, and others went on from there.
  await redis.cli('DEL', `{${namespace}}:changes`);
  await redis.cli('SET', `{${namespace}}:revision`, String(position.revision - 1));
  const other = await open();
  expect(await other.register(command('b'))).toMatchObject({ revision: position.revision });
  await other.close();
  const next = store.changes(position, new AbortController().signal)[Symbol.asyncIterator]().next();
  await expect(next).rejects.toMatchObject({ reason: 'epoch_changed' });
});

test('a connection that may lead to another server is not read on before the log was looked at again', async () => {
  const { position } = await store.snapshot();
  const reading = store.changes(position, new AbortController().signal)[Symbol.asyncIterator]();
  await store.register(command('a'));
  let seen = 0;
  while (seen === 0) seen = (await reading.next()).value?.changes.length ?? 0;
  // A replica was promoted that had not heard of that change, and others went on from there.
  await redis.cli('DEL', `{${namespace}}:changes`);
  await redis.cli('SET', `{${namespace}}:revision`, String(position.revision));
  const other = await open({ connectionName: 'other' });
  expect(await other.register(command('b'))).toMatchObject({ revision: position.revision + 1 });
  await redis.cli('CLIENT', 'KILL', 'TYPE', 'normal');
  await eventually(async () => expect(String(await redis.cli('CLIENT', 'LIST'))).toContain('name=registry-log'));
  await expect(reading.next()).rejects.toMatchObject({ reason: 'epoch_changed' });
  await other.close();
});

test('a read in progress ends when its reader leaves and the next one works', async () => {
  const { position } = await store.snapshot();
  const leaving = new AbortController();
  const reading = (async () => {
    for await (const batch of store.changes(position, leaving.signal)) if (batch.changes.length > 0) return 'changed';
    return 'left';
  })();
  leaving.abort();
  expect(await reading).toBe('left');
  await store.register(command('a'));
  const told = await eventually(async () => {
    for await (const { changes } of store.changes(position, new AbortController().signal)) return changes;
    return [];
  });
  expect(told).toMatchObject([{ type: 'registered', agentId: 'a' }]);
});
