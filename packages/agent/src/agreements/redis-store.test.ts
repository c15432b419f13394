import type { Redis } from 'ioredis';
import { closeRedis, connectRedis, silentLogger } from '@parley/service-kit';
import { eventually, startRedis, type RedisServer } from '@parley/testkit';
import { createRedisAgreementStore } from './redis-store.js';
import { START } from '../../test-support/keeper-fixture.js';
import { agreementRecord } from '../../test-support/agreement-records.js';
import { applyChange } from './transitions.js';
import { sessionRecord } from '../../test-support/session-record.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'redis-store-test', logger: silentLogger });
  await eventually(() => redis.ping());
}, 30_000);

afterAll(async () => {
  await closeRedis(redis);
  await server.stop();
});

describe('the redis store', () => {
  it('lets no key of an ended agreement live for ever, and keeps all keys in one slot', async () => {
    const store = createRedisAgreementStore({ redis, agentId: 'ttl', now: () => START });
    const record = agreementRecord();
    const commit = { expectedVersion: 0, maxAgreements: 9, maxOpenPerInitiator: 9, maxRemembered: 9, now: START };
    await store.commit({
      ...commit,
      session: sessionRecord({ state: 'agreed', agreementId: 'agr-1', expiresAt: START + 1_200_000 }),
      agreement: record,
    });
    await store.claimCall({ agreementId: 'agr-1', callId: 'a', now: START, runsUntil: START + 1_000 });
    const keys = await redis.keys('{parley-agent:ttl}*');
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) expect(await redis.pttl(key)).toBeGreaterThan(0);
    await store.compareAndSet(
      1,
      applyChange(record, { type: 'end', reason: 'completed', by: 'initiator' }, START) ?? record,
    );
    for (const key of keys) expect(await redis.pttl(key)).not.toBe(-1);
    expect(await redis.pttl('{parley-agent:ttl}:agreement:agr-1')).toBeLessThanOrEqual(3_600_000);
    expect(await redis.pttl('{parley-agent:ttl}:session:agent_A/session-1')).toBeLessThanOrEqual(600_000);
    expect(await server.cli('KEYS', '*ttl*')).toHaveLength((await redis.keys('{parley-agent:ttl}*')).length);
  });

  it('says that the store is away, for every method', async () => {
    const other = await startRedis();
    const connection = connectRedis({ url: other.url, name: 'away', logger: silentLogger });
    await eventually(() => connection.ping());
    await other.stop();
    const store = createRedisAgreementStore({ redis: connection, agentId: 'away' });
    const claim = { agreementId: 'a', callId: 'c', now: 0, runsUntil: 1 };
    const calls: (() => Promise<unknown>)[] = [
      () => store.get('a'),
      () => store.compareAndSet(1, agreementRecord()),
      () => store.list({}, 1),
      () => store.living(),
      () => store.countLiving(),
      () => store.due(0, 1),
      () => store.reschedule('a'),
      () => store.getSession('a', 's', 0),
      () =>
        store.commit({
          session: sessionRecord(),
          expectedVersion: 0,
          maxAgreements: 1,
          maxOpenPerInitiator: 1,
          maxRemembered: 1,
          now: 0,
        }),
      () => store.claimCall(claim),
      () => store.releaseCall('a', 'c', 0),
      () => store.usage('a', 0),
      () => store.prune(0),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ reason: 'unavailable', code: 'store_unavailable' });
    }
    await closeRedis(connection);
  }, 30_000);
});
