import { TaskState } from '@a2a-js/sdk';
import { closeRedis, connectRedis, silentLogger } from '@parley/service-kit';
import { callOf, listRequest, taskOf, withState } from '../../../test-support/a2a-tasks.js';
import { manualClock } from '../../../test-support/keeper-fixture.js';
import { taskStores } from '../../../test-support/task-stores.js';
import { createRedisTaskStore } from './redis-task-store.js';

const {
  TASK_STATE_WORKING: WORKING,
  TASK_STATE_COMPLETED: COMPLETED,
  TASK_STATE_FAILED: FAILED,
  TASK_STATE_INPUT_REQUIRED: INPUT_REQUIRED,
} = TaskState;

const { redis, redisStore } = taskStores();
const alice = callOf('alice');

describe('several replicas with one Redis', () => {
  it('a living replica keeps its tasks, a follow-up makes them those of whoever got it', async () => {
    const clock = manualClock();
    const first = redisStore('replicas-1', clock);
    const second = redisStore('replicas-1', clock);
    await first.save(taskOf({ id: 'of-first' }), alice);
    await first.save(taskOf({ id: 'moves', state: INPUT_REQUIRED }), alice);
    const moved = await second.load('moves', alice);
    if (moved === undefined) throw new Error('the other replica does not see it');
    await second.save(withState(moved, WORKING), alice);
    expect(await second.failInterrupted('gone')).toBe(0);
    await first.close();
    expect(await second.failInterrupted('gone')).toBe(1);
    expect((await second.load('of-first', alice))?.status?.state).toBe(FAILED);
    expect((await second.load('moves', alice))?.status?.state).toBe(WORKING);
  });

  it('two that clean up at once fail each task once', async () => {
    const clock = manualClock();
    const first = redisStore('replicas-3', clock);
    for (let index = 0; index < 30; index += 1) await first.save(taskOf({ id: `t-${String(index)}` }), alice);
    await first.close();
    const others = [redisStore('replicas-3', clock), redisStore('replicas-3', clock)];
    const counts = await Promise.all(others.map((store) => store.failInterrupted('gone')));
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(30);
  });
});

describe('in Redis', () => {
  const keysOf = (agentId: string): Promise<string[]> => redis().keys(`{parley-agent:${agentId}}*`);

  it('everything is below the agent, and everything goes by itself', async () => {
    const clock = manualClock();
    const store = redisStore('ttl', clock, { keepEndedMs: 60_000, keepWaitingMs: 70_000 });
    await store.save(taskOf({ id: 'ended', state: COMPLETED }), alice);
    await store.save(taskOf({ id: 'runs' }), alice);
    await store.save(taskOf({ id: 'waits', state: INPUT_REQUIRED }), alice);
    const keys = await keysOf('ttl');
    expect(keys.length).toBeGreaterThan(9);
    for (const key of keys) {
      expect(key).toMatch(/^\{parley-agent:ttl\}:task/u);
      expect(await redis().pttl(key)).toBeGreaterThan(0);
    }
    const ended = keys.find((key) => key.endsWith(':ended')) ?? '';
    expect(await redis().pttl(ended)).toBeLessThanOrEqual(60_000);
  });

  it('a task whose record is gone is no ghost in any list, and leaves it when it is met there', async () => {
    const store = redisStore('ghosts', manualClock());
    await store.save(taskOf({ id: 'stays' }), alice);
    await store.save(taskOf({ id: 'ghost' }), alice);
    const keys = await keysOf('ghosts');
    await redis().del(keys.find((name) => name.endsWith(':ghost')) ?? '');
    const lists = keys.filter((name) => /:tasks:[^:]+(?:$|:)/u.test(name));
    expect(lists).toHaveLength(3);
    for (const filter of [{}, { contextId: 'context-1' }, { status: WORKING }]) {
      const page = await store.list(listRequest(filter), alice);
      expect(page).toMatchObject({ totalSize: 1, tasks: [{ id: 'stays' }] });
    }
    expect(await Promise.all(lists.map((name) => redis().zcard(name)))).toEqual([1, 1, 1]);
  });

  it('nor does it stay among those that run', async () => {
    const store = redisStore('ghosts-2', manualClock());
    await store.save(taskOf({ id: 'ghost' }), alice);
    await redis().del((await keysOf('ghosts-2')).find((name) => name.endsWith(':ghost')) ?? '');
    expect(await store.failInterrupted('gone')).toBe(0);
    expect(await redis().zcard('{parley-agent:ghosts-2}:tasks-running')).toBe(0);
  });

  it('a write that fails changes neither the task nor an index', async () => {
    const clock = manualClock();
    const store = redisStore('atomic', clock);
    await store.save(taskOf(), alice);
    const before = await redis().zrange('{parley-agent:atomic}:tasks-running', '0', '-1', 'WITHSCORES');
    clock.advance(1_000);
    await store.save(withState(taskOf(), COMPLETED), alice);
    expect(await redis().zcard('{parley-agent:atomic}:tasks-running')).toBe(0);
    await expect(store.save(taskOf(), alice)).rejects.toMatchObject({ code: 'task_ended' });
    expect(before).toHaveLength(2);
    expect(await redis().zcard('{parley-agent:atomic}:tasks-running')).toBe(0);
    expect(await redis().zcard('{parley-agent:atomic}:tasks-ended')).toBe(1);
  });

  it('what cannot be reached is said to be the store', async () => {
    const dead = connectRedis({ url: 'redis://127.0.0.1:1', name: 'nowhere', logger: silentLogger });
    const store = createRedisTaskStore({ redis: dead, agentId: 'away' });
    const away = { reason: 'unavailable', code: 'store_unavailable' };
    await expect(store.save(taskOf(), alice)).rejects.toMatchObject(away);
    await expect(store.load('task-1', alice)).rejects.toMatchObject(away);
    await expect(store.list(listRequest(), alice)).rejects.toMatchObject(away);
    await expect(store.failInterrupted('gone')).rejects.toMatchObject(away);
    await store.close();
    await closeRedis(dead);
  });
});
