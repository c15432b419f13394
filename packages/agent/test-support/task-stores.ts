import type { Redis } from 'ioredis';
import type { AgentTaskStore, TaskStoreBounds } from '../src/a2a/stores/agent-task-store.js';
import { createMemoryTaskStore } from '../src/a2a/stores/memory-task-store.js';
import { createRedisTaskStore, type RedisTaskStoreOptions } from '../src/a2a/stores/redis-task-store.js';
import type { ManualClock } from './keeper-fixture.js';
import { redisKinds } from './redis-kinds.js';

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

/** To be called once in a test file: starts real Redis servers for it and closes the stores of each test. */
export function taskStores(): TaskStores {
  const redises = redisKinds();
  const [{ redis: single }] = redises;
  let agents = 0;
  const opened: AgentTaskStore[] = [];

  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

  function storeOf(redis: Redis, agentId: string, clock: ManualClock, options: Partial<RedisTaskStoreOptions> = {}) {
    const store = createRedisTaskStore({ redis, agentId, now: clock.now, ...options });
    opened.push(store);
    return store;
  }

  return {
    redis: single,
    redisStore: (agentId, clock, options) => storeOf(single(), agentId, clock, options),
    kinds: [
      [
        'memory',
        (clock, bounds) => {
          const store = createMemoryTaskStore({ ...bounds, now: clock.now });
          return { store, successor: () => Promise.resolve(store) };
        },
      ],
      ...redises.map(({ name, redis }): TaskStores['kinds'][number] => [
        name,
        (clock, bounds) => {
          agents += 1;
          const agentId = `tasks-${String(agents)}`;
          const store = storeOf(redis(), agentId, clock, bounds);
          return {
            store,
            successor: async () => {
              await store.close();
              return storeOf(redis(), agentId, clock, bounds);
            },
          };
        },
      ]),
    ],
  };
}
