import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { closeRedis, connectRedis, silentLogger } from '@parley/service-kit';
import { callOf, pushConfig } from '../../../test-support/a2a-tasks.js';
import { manualClock, type ManualClock } from '../../../test-support/keeper-fixture.js';
import { redisKinds } from '../../../test-support/redis-kinds.js';
import { createMemoryPushStore } from './memory-push-store.js';
import type { AgentPushStore, PushStoreOptions } from './push-store.js';
import { createRedisPushStore } from './redis-push-store.js';

const redises = redisKinds();
const [{ redis: single }] = redises;
let agents = 0;
const kinds: [string, (options: PushStoreOptions) => AgentPushStore][] = [
  ['memory', createMemoryPushStore],
  ...redises.map(({ name, redis }): [string, (options: PushStoreOptions) => AgentPushStore] => [
    name,
    (options) => {
      agents += 1;
      return createRedisPushStore({ ...options, redis: redis(), agentId: `push-${String(agents)}` });
    },
  ]),
];

const alice = callOf('alice');
const URL_1 = 'https://one.example/';
const URL_2 = 'https://two.example/';

describe.each(kinds)('the %s store of push configurations', (_, create) => {
  let clock: ManualClock;
  let store: AgentPushStore;

  beforeEach(() => {
    clock = manualClock();
    store = create({ now: clock.now, maxPerTask: 3, keepMs: 10_000 });
  });

  it('keeps all of it, in the order in which they came, with the version that they came over', async () => {
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const first = pushConfig(URL_1, { id: 'z', token: 'token', authentication });
    const second = pushConfig(URL_2, { id: 'a' });
    await store.save('task-1', alice, first);
    clock.advance(1);
    await store.save('task-1', callOf('alice', { requestedVersion: '0.3' }), second);
    expect(await store.load('task-1', alice)).toEqual([first, second]);
    expect(await store.loadWithMetadata('task-1', alice)).toEqual([
      { config: first, wireVersion: '1.0' },
      { config: second, wireVersion: '0.3' },
    ]);
    authentication.credentials = 'changed';
    const [loaded] = await store.load('task-1', alice);
    expect(loaded?.authentication?.credentials).toBe('secret');
    if (loaded !== undefined) loaded.url = 'changed';
    expect((await store.load('task-1', alice))[0]?.url).toBe(URL_1);
  });

  it('gives an id to one without, which its caller sees', async () => {
    const config = pushConfig(URL_1, { id: '' });
    await store.save('task-1', alice, config);
    expect(config.id).toMatch(/^[0-9a-f-]{36}$/u);
    expect(await store.load('task-1', alice)).toEqual([config]);
  });

  it('replaces one with the same id', async () => {
    await store.save('task-1', alice, pushConfig(URL_1));
    await store.save('task-1', alice, pushConfig(URL_2));
    expect(await store.load('task-1', alice)).toEqual([pushConfig(URL_2)]);
  });

  it('shows them to their owner and tenant alone, who alone can delete them', async () => {
    await store.save('task-1', alice, pushConfig(URL_1));
    for (const call of [callOf('bob'), callOf('alice', { tenant: 't' })]) {
      expect(await store.load('task-1', call)).toEqual([]);
      await store.delete('task-1', call, 'config-1');
    }
    expect(await store.load('task-1', alice)).toHaveLength(1);
    expect(await store.load('task-2', alice)).toEqual([]);
    await store.delete('task-1', alice, 'config-2');
    expect(await store.load('task-1', alice)).toHaveLength(1);
    await store.delete('task-1', alice, 'config-1');
    expect(await store.load('task-1', alice)).toEqual([]);
  });

  it('takes only so many for a task, but any number of changes', async () => {
    for (const id of ['1', '2', '3', '3', '1']) await store.save('task-1', alice, pushConfig(URL_1, { id }));
    const fourth = store.save('task-1', alice, pushConfig(URL_1, { id: '4' }));
    await expect(fourth).rejects.toBeInstanceOf(RequestMalformedError);
    await store.save('task-2', alice, pushConfig(URL_1, { id: '4' }));
    expect(await store.load('task-1', alice)).toHaveLength(3);
  });

  it('refuses what could not be delivered to', async () => {
    const refused = store.save('task-1', alice, pushConfig('http://one.example/'));
    await expect(refused).rejects.toBeInstanceOf(RequestMalformedError);
    expect(await store.load('task-1', alice)).toEqual([]);
    const local = create({ rules: { allowPlainHttp: true } });
    await local.save('task-1', alice, pushConfig('http://one.example/'));
    expect(await local.load('task-1', alice)).toHaveLength(1);
  });

  it('forgets them after their time', async () => {
    await store.save('task-1', alice, pushConfig(URL_1));
    clock.advance(9_999);
    expect(await store.load('task-1', alice)).toHaveLength(1);
    clock.advance(1);
    expect(await store.load('task-1', alice)).toEqual([]);
  });
});

it('the memory store keeps those of the tasks that were set last', async () => {
  const store = createMemoryPushStore({ maxTasks: 2 });
  for (const id of ['a', 'b', 'a', 'c']) await store.save(id, alice, pushConfig(URL_1));
  const counts = await Promise.all(['a', 'b', 'c'].map(async (id) => (await store.load(id, alice)).length));
  expect(counts).toEqual([1, 0, 1]);
});

describe('in Redis', () => {
  it('everything is below the agent, without the name of the caller, and goes by itself', async () => {
    const redis = single();
    const store = createRedisPushStore({ redis, agentId: 'push-keys', keepMs: 60_000 });
    await store.save('task-1', callOf('alice@example.org'), pushConfig(URL_1));
    const keys = await redis.keys('*push-keys*');
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatch(/^\{parley-agent:push-keys\}:task-push:[\w-]{22}:task-1$/u);
    expect(await redis.pttl(keys[0] ?? '')).toBeGreaterThan(50_000);
  });

  it('what cannot be reached is said to be the store', async () => {
    const dead = connectRedis({ url: 'redis://127.0.0.1:1', name: 'nowhere', logger: silentLogger });
    const store = createRedisPushStore({ redis: dead, agentId: 'away' });
    const away = { reason: 'unavailable', code: 'store_unavailable' };
    await expect(store.save('t', alice, pushConfig(URL_1))).rejects.toMatchObject(away);
    await expect(store.load('t', alice)).rejects.toMatchObject(away);
    await expect(store.delete('t', alice, 'c')).rejects.toMatchObject(away);
    await closeRedis(dead);
  });
});
