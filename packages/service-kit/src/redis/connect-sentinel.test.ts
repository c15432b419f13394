import { once } from 'node:events';
import { freePort, startRedis, startRedisSentinel, waitFor, type RedisSentinel } from '@parley/testkit';
import { closeRedis } from './connect-redis.js';
import { connections } from './connections.test-helper.js';
import { startFakeRedis } from './fake-redis.test-helper.js';
import type { SentinelRedis } from './redis-target.js';

const PASSWORD = 'swordfish-of-the-servers';
const open = connections();
let sentinel: RedisSentinel;

beforeAll(async () => {
  sentinel = await startRedisSentinel({ replicas: 1, password: PASSWORD });
}, 60_000);

function connect(options: Partial<SentinelRedis> = {}) {
  const place = { sentinels: sentinel.sentinels, masterName: sentinel.masterName, password: PASSWORD };
  return open({ ...place, ...options });
}

it('goes to the master, also when sentinels are gone', async () => {
  const nowhere = { host: '127.0.0.1', port: await freePort() };
  const { redis } = connect({ sentinels: [nowhere, nowhere, ...sentinel.sentinels.slice(0, 1)] });
  await once(redis, 'ready');
  expect(await redis.set('a', '1')).toBe('OK');
  expect(redis.stream.remotePort).toBe((await sentinel.master()).port);
});

it.each([
  ['a wrong password', { password: 'swordfish-that-is-wrong' }, /WRONGPASS/u],
  ['no password', { password: undefined }, /NOAUTH/u],
  ['a master that no sentinel knows', { masterName: 'nobody' }, /No such master/u],
])('%s is told once, without any password', async (_, options, reason) => {
  const { redis, lines } = connect(options as Partial<SentinelRedis>);
  let attempts = 0;
  redis.on('reconnecting', () => (attempts += 1));
  await waitFor(() => attempts > 2);
  await expect(redis.get('a')).rejects.toThrow();
  const told = lines.filter(({ level }) => level === 'warn');
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).toMatch(reason);
  expect(JSON.stringify(lines)).not.toContain('swordfish');
});

it('does not stay with a server that is no master, whatever a sentinel says', async () => {
  const replica = sentinel.servers.at(-1);
  const liar = await startFakeRedis(() => masterReply(replica?.port ?? 0, 1));
  const { redis } = connect({ sentinels: [{ host: '127.0.0.1', port: liar.port }] });
  let isReady = false;
  redis.on('ready', () => (isReady = true));
  await waitFor(() => liar.commands.length > 3);
  expect(isReady).toBe(false);
  await liar.close();
});

it('leaves a master that was replaced and does not know it', async () => {
  const [old, next] = [await startRedis(), await startRedis()];
  let now = old;
  const fake = await startFakeRedis(() => masterReply(now.port, 1));
  const { redis } = connect({ sentinels: [{ host: '127.0.0.1', port: fake.port }], password: undefined } as never);
  await once(redis, 'ready');
  expect(redis.stream.remotePort).toBe(old.port);
  now = next;
  await once(redis, 'ready');
  expect(await redis.set('a', '1')).toBe('OK');
  expect(await next.cli('GET', 'a')).toBe('1');
  const asked = fake.commands.length;
  await closeRedis(redis);
  // Nobody asks for a connection that is closed.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(fake.commands.length).toBeLessThanOrEqual(asked + 1);
  await fake.close();
}, 20_000);

it('follows a planned fail-over', async () => {
  const { redis } = connect();
  await once(redis, 'ready');
  const before = await sentinel.master();
  await waitFor(async () => (await sentinel.askSentinel('SENTINEL', 'FAILOVER', sentinel.masterName)) === 'OK');
  await waitFor(async () => (await sentinel.master()) !== before, { timeoutMs: 15_000 });
  const { port } = await sentinel.master();
  // The old one takes writes until it is told.
  await waitFor(() => redis.status === 'ready' && redis.stream.remotePort === port, { timeoutMs: 10_000 });
  expect(await redis.set('b', '1')).toBe('OK');
}, 30_000);

function masterReply(port: number, epoch: number): string {
  const fields = ['ip', '127.0.0.1', 'port', String(port), 'config-epoch', String(epoch)];
  return [`*${String(fields.length)}`, ...fields.map((field) => `$${String(field.length)}\r\n${field}`)].join('\r\n');
}
