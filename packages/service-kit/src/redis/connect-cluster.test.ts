import { once } from 'node:events';
import { freePort, startRedisCluster, startSilentListener, waitFor, type RedisCluster } from '@parley/testkit';
import type { Redis } from 'ioredis';
import { closeRedis } from './connect-redis.js';
import { connections } from './connections.test-helper.js';
import type { ServerAddress } from './redis-target.js';

const open = connections();
let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);

interface Options {
  readonly hashTag?: string;
  readonly blocking?: boolean;
  readonly clusterNodes?: readonly ServerAddress[];
  readonly username?: string;
  readonly password?: string;
}

function connect(options: Options = {}) {
  return open({ clusterNodes: cluster.addresses, hashTag: 'a', ...options });
}

async function connected(options: Options = {}): Promise<Redis> {
  const { redis } = connect(options);
  await once(redis, 'ready');
  return redis;
}

async function elsewhere() {
  return cluster.anotherMaster(await cluster.ownerOf('{a}'));
}

it('goes to the node that serves its hash tag', async () => {
  const tags = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const hashTag of tags) {
    const redis = await connected({ hashTag });
    expect(await redis.set(`{${hashTag}}:key`, hashTag)).toBe('OK');
    expect(redis.stream.remotePort).toBe((await cluster.ownerOf(`{${hashTag}}`)).port);
  }
  const used = new Set(await Promise.all(tags.map(async (tag) => (await cluster.ownerOf(`{${tag}}`)).port)));
  expect(used.size).toBeGreaterThan(1);
});

it('needs one node that answers, whatever the others do', async () => {
  const silent = await startSilentListener();
  const nowhere = [await freePort(), silent.port].map((port) => ({ host: '127.0.0.1', port }));
  const redis = await connected({ clusterNodes: [...nowhere, ...cluster.addresses.slice(0, 1)] });
  expect(await redis.ping()).toBe('PONG');
});

it('cannot do without the hash tag', () => {
  expect(() => open({ clusterNodes: cluster.addresses })).toThrow('hash tag');
});

it('needs few rights', async () => {
  const rights = ['on', '>secret', '~{a}:*', '+@all', '-@dangerous', '+info', '+cluster|nodes'];
  await Promise.all(cluster.nodes.map((node) => node.cli('ACL', 'SETUSER', 'few', ...rights)));
  const redis = await connected({ username: 'few', password: 'secret' });
  expect(await redis.set('{a}:1', '1')).toBe('OK');
  await expect(redis.set('{b}:1', '1')).rejects.toThrow('NOPERM');
});

it('moves with its slot, and no command fails or is carried out twice', async () => {
  const redis = await connected();
  const to = await elsewhere();
  const keys = Array.from({ length: 60 }, (_, index) => `{a}:counter:${String(index)}`);
  let given = 0;
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      await redis.incr(keys[given++ % keys.length] ?? '');
    }
  };
  const workers = Promise.all(Array.from({ length: 20 }, work));
  await waitFor(() => given > 500);
  await cluster.moveSlot('{a}', to, { batch: 20 });
  const until = given + 500;
  await waitFor(() => given > until);
  isOver = true;
  await workers;
  expect(redis.stream.remotePort).toBe(to.port);
  const counted = await Promise.all(keys.map((key) => redis.get(key)));
  expect(counted.reduce((sum, count) => sum + Number(count), 0)).toBe(given);
}, 20_000);

it('a blocking connection is told that its slot has moved, and is then at the right node', async () => {
  const redis = await connected({ blocking: true });
  const to = await elsewhere();
  const read = redis.xread('BLOCK', 20_000, 'STREAMS', '{a}:log', '$');
  const moved = expect(read).rejects.toThrow('MOVED');
  await cluster.moveSlot('{a}', to);
  await moved;
  await once(redis, 'ready');
  expect(redis.stream.remotePort).toBe(to.port);
}, 20_000);

it('closing while nobody says where to go returns at once, and nothing goes on', async () => {
  const silent = await startSilentListener();
  const { redis, lines } = connect({ clusterNodes: [{ host: '127.0.0.1', port: silent.port }] });
  await waitFor(() => silent.accepted > 0);
  const since = performance.now();
  await expect(redis.get('{a}:1')).rejects.toThrow();
  await closeRedis(redis);
  expect(performance.now() - since).toBeLessThan(2_000);
  await waitFor(() => redis.status === 'end');
  const asked = silent.accepted;
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(silent.accepted).toBe(asked);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
});
