import { closeRedis, connectRedis, silentLogger, type RedisTarget } from '@parley/service-kit';
import { eventually, startRedis, startRedisCluster, startRedisSentinel } from '@parley/testkit';
import type { Redis } from 'ioredis';

/** A real Redis of one kind, with one connection for a whole test file. */
export interface RedisKind {
  readonly name: string;
  redis(): Redis;
}

/** To be called once in a test file: one server, one that is found by sentinels, and a cluster. */
export function redisKinds(): readonly [single: RedisKind, sentinel: RedisKind, cluster: RedisKind] {
  return [
    kind('redis', async () => ({ url: (await startRedis()).url })),
    kind('redis by sentinels', () => startRedisSentinel({ replicas: 1, sentinels: 1 })),
    // One node, which serves the slots of all agents: a cluster all the same to scripts and to commands with many keys.
    kind('redis cluster', async () => ({ clusterNodes: (await startRedisCluster({ masters: 1 })).addresses })),
  ];
}

function kind(name: string, start: () => Promise<RedisTarget>): RedisKind {
  let redis: Redis | undefined;

  beforeAll(async () => {
    const connection = connectRedis({
      ...(await start()),
      name: 'contract',
      logger: silentLogger,
      hashTag: 'contract',
    });
    redis = connection;
    await eventually(() => connection.ping());
  }, 30_000);

  afterAll(async () => {
    if (redis !== undefined) await closeRedis(redis);
  });

  return {
    name,
    redis: () => {
      if (redis === undefined) throw new Error(`${name} is not started yet`);
      return redis;
    },
  };
}
