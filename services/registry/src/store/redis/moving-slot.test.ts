import { AppError, silentLogger } from '@parley/service-kit';
import { eventually, startRedisCluster, type RedisCluster, type RedisServer } from '@parley/testkit';
import type { AgreementCommand, RegisterCommand } from '../store.js';
import { RedisStore } from './redis-store.js';

const guard = { awayThresholdMs: 60_000, share: 0.5, minAgents: 1 };
const KEY = '{moving}';
const HASH = 'hash';
let cluster: RedisCluster;
let store: RedisStore;
let from: RedisServer;
let to: RedisServer;

beforeAll(async () => {
  cluster = await startRedisCluster({ masters: 2 });
  from = await cluster.ownerOf(KEY);
  to = await cluster.anotherMaster(from);
  const redis = { clusterNodes: cluster.addresses };
  store = new RedisStore({ redis, logger: silentLogger, guard, namespace: 'moving', maxAgreements: 2 });
  await eventually(() => store.ping());
}, 60_000);

afterAll(() => store.close());

const command = (agentId: string): RegisterCommand => ({
  ...{ agentId, manifestJson: '{}', ttlMs: 60_000, newTokenHash: HASH },
});
const agreement = (agreementId: string): AgreementCommand => ({
  ...{ agreementId, version: 1, state: 'active', parties: ['a', 'b'], json: '{}' },
  ...{ ttlMs: 60_000, changeType: 'agreed' },
});

async function outcome(promise: Promise<{ readonly kind?: string; readonly recorded?: boolean }>): Promise<unknown> {
  return promise.then(
    ({ kind, recorded }) => kind ?? recorded,
    (error: unknown) => AppError.from(error).code,
  );
}

test('while a slot moves nobody is told that a record is unknown that has only gone ahead', async () => {
  for (const id of ['here', 'there']) await store.register(command(id));
  for (const id of ['g1', 'g2']) await store.recordAgreement(agreement(id));
  await store.publishRenewals([{ agentId: 'here', revision: 1, deadlineMs: 1 }]);
  await store.sweep({ limit: 10, guard });
  // As an operator would begin, with two records of many.
  const slot = String(await cluster.slotOf(KEY));
  await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(await from.cli('CLUSTER', 'MYID')));
  await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await to.cli('CLUSTER', 'MYID')));
  const ahead = [`${KEY}:agent:there`, `${KEY}:agreement:g1`];
  await from.cli('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...ahead);
  const before = (await store.snapshot()).position;

  const all = await Promise.all([
    outcome(store.renew('here', HASH)),
    outcome(store.renew('there', HASH)),
    outcome(store.register(command('new'))),
    outcome(store.register({ ...command('there'), callerTokenHash: HASH })),
    outcome(store.deregister('there', { tokenHash: HASH })),
    outcome(store.verifyOwner('there', HASH).then((kind) => ({ kind }))),
    outcome(store.getAgreement('g1').then(() => ({ kind: 'read' }))),
    outcome(store.recordAgreement(agreement('g1'))),
    outcome(store.recordAgreement(agreement('g2'))),
  ]);
  const away = 'store_unavailable';
  expect(all).toEqual(['renewed', away, away, away, away, away, away, away, false]);
  // What was refused has changed nothing.
  expect((await store.snapshot()).position).toEqual(before);

  await cluster.moveSlot(KEY, to);
  expect(await outcome(store.renew('there', HASH))).toBe('renewed');
  expect(await outcome(store.register(command('new')))).toBe('registered');
  expect(await store.getAgreement('g1')).toMatchObject({ state: 'active' });
  const after = (await store.snapshot()).position;
  expect([after.epoch, after.revision]).toEqual([before.epoch, before.revision + 1]);
}, 30_000);
