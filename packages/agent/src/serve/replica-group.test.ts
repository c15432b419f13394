import { closeRedis, connectRedis, silentLogger } from '@parley/service-kit';
import { eventually, startRedis, type RedisServer } from '@parley/testkit';
import type { Redis } from 'ioredis';
import { joinReplicas } from './replica-group.js';

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis({ url: server.url, name: 'replica-group-test', logger: silentLogger });
  await eventually(() => redis.ping());
}, 30_000);

afterAll(async () => {
  await closeRedis(redis);
  await server.stop();
});

const KEY = (agentId: string): string => `{parley-agent:${agentId}}:replicas`;

/** Joined, and known to the others. */
async function joined(agentId: string, member: string, silenceMs?: number) {
  const group = joinReplicas({ redis, agentId, member, ...(silenceMs === undefined ? {} : { silenceMs }) });
  await eventually(async () => {
    expect(await redis.zscore(KEY(agentId), member)).not.toBeNull();
  });
  return group;
}

describe('the replicas of an agent', () => {
  it('learn on leaving whether others live', async () => {
    const first = await joined('a', 'pod-1:8002');
    const second = await joined('a', 'pod-2:8002');
    expect(await first.leave()).toBe(true);
    expect(await second.leave()).toBe(false);
    expect(await redis.exists(KEY('a'))).toBe(0);
  });

  it('that go at once leave exactly one last', async () => {
    const groups = await Promise.all(['1', '2', '3', '4'].map((member) => joined('b', member)));
    const others = await Promise.all(groups.map((group) => group.leave()));
    expect(others.filter((live) => !live)).toHaveLength(1);
  });

  it('do not count one that was killed, once it was silent for long enough', async () => {
    const killed = await joined('c', 'killed');
    const killedAt = Number(await redis.zscore(KEY('c'), 'killed'));
    await killed.leave();
    await redis.zadd(KEY('c'), killedAt - 5_001, 'killed');
    const left = await joined('c', 'left');
    expect(await left.leave()).toBe(false);
  });

  it('count one that starts again in the same place once', async () => {
    await joined('d', 'pod-1:8002');
    const again = await joined('d', 'pod-1:8002');
    expect(await again.leave()).toBe(false);
  });

  it('say again and again that they live', async () => {
    const stays = await joined('e', 'stays', 200);
    const first = Number(await redis.zscore(KEY('e'), 'stays'));
    await eventually(
      async () => {
        expect(Number(await redis.zscore(KEY('e'), 'stays'))).toBeGreaterThan(first + 200);
      },
      { timeoutMs: 5_000, what: 'a later sign of life' },
    );
    expect(await redis.pttl(KEY('e'))).toBeGreaterThan(0);
    await stays.leave();
  });

  it('do not wait for a store that is away', async () => {
    const away = connectRedis({ url: 'redis://127.0.0.1:1', name: 'away', logger: silentLogger });
    const group = joinReplicas({ redis: away, agentId: 'f', member: 'alone' });
    expect(await group.leave()).toBe(false);
    await closeRedis(away);
  });
});
