import { closeRedis, connectRedis, silentLogger } from '@parley/service-kit';
import { eventually, startRedis } from '@parley/testkit';
import type { Redis } from 'ioredis';
import type { AgentTaskStore, TaskStoreBounds } from '../src/a2a/stores/agent-task-store.js';
import { createMemoryTaskStore } from '../src/a2a/stores/memory-task-store.js';
import { createRedisTaskStore, type RedisTaskStoreOptions } from '../src/a2a/stores/redis-task-store.js';
import type { ManualClock } from './keeper-fixture.js';

export interface StoreAndSuccessor {
  readonly store: AgentTaskStore;
  /** What a process sees that comes after the first one has died. */
  readonly successor: () => Promise<AgentTaskStore>;
}

export interface TaskStores {
  redis(): Redis;
  redisStore(agentId: string, clock: ManualClock, options?: Partial<RedisTaskStoreOptions>): AgentTaskStore;
  /** Every kind of store under its name. */
  readonly kinds: readonly [string, (clock: ManualClock, bounds?: TaskStoreBounds) => StoreAndSuccessor][];
}

/** To be called once in a test file: starts a real Redis for it and closes the stores of each test. */
export function taskStores(): TaskStores {
  let redis: Redis | undefined;
  let stop: (() => Promise<void>) | undefined;
  let agents = 0;
  const opened: AgentTaskStore[] = [];

  beforeAll(async () => {
    const server = await startRedis();
    const connection = connectRedis({ url: server.url, name: 'task-stores', logger: silentLogger });
    redis = connection;
    stop = () => server.stop();
    await eventually(() => connection.ping());
  }, 30_000);

  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

  afterAll(async () => {
    if (redis !== undefined) await closeRedis(redis);
    await stop?.();
  });

  function connection(): Redis {
    if (redis === undefined) throw new Error('Redis is not started yet');
    return redis;
  }

  function redisStore(
    agentId: string,
    clock: ManualClock,
    options: Partial<RedisTaskStoreOptions> = {},
  ): AgentTaskStore {
    const store = createRedisTaskStore({ redis: connection(), agentId, now: clock.now, ...options });
    opened.push(store);
    return store;
  }

  return {
    redis: connection,
    redisStore,
    kinds: [
      [
        'memory',
        (clock, bounds) => {
          const store = createMemoryTaskStore({ ...bounds, now: clock.now });
          return { store, successor: () => Promise.resolve(store) };
        },
      ],
      [
        'redis',
        (clock, bounds) => {
          agents += 1;
          const agentId = `tasks-${String(agents)}`;
          const store = redisStore(agentId, clock, bounds);
          return {
            store,
            successor: async () => {
              await store.close();
              return redisStore(agentId, clock, bounds);
            },
          };
        },
      ],
    ],
  };
}
