import {
  endEverything,
  eventually,
  freePort,
  replayWatch,
  startLightFleet,
  startRedis,
  watchEvents,
  type RedisServer,
  type StartRedisOptions,
  type WatchedEvent,
} from '@parley/testkit';
import {
  deregister,
  discover,
  expectUnavailable,
  get,
  manifest,
  post,
  register,
  renew,
  tokenOf,
} from './support/http.js';
import { observePresence } from './support/presence.js';
import { startAgentB, startRegistry, untilReady, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);
const LEASE_SECONDS = 3;
const RENEW_MS = 1_000;

const about = (type: string, id: string) => (event: WatchedEvent) => event.type === type && event.agentId === id;

describe('a registry whose Redis answers, but not as it should', () => {
  let redis: RedisServer;
  let registry: Service;

  afterEach(endEverything, 30_000);

  async function start(options: StartRedisOptions = {}): Promise<void> {
    redis = await startRedis(options);
    registry = await startRegistry({ redisUrl: redis.url });
  }

  const healed = async (agentId: string) => {
    await untilReady(registry, 5_000);
    await eventually(async () => expect((await register(registry.url, { agent_id: agentId })).status).toBe(201));
    expect(await discover(registry.url, 'probe')).toContain(agentId);
  };

  it('refuses writes while it is the replica of a dead master, and heals', async () => {
    await start();
    await register(registry.url, { agent_id: 'agent-before', ttl_seconds: 60 });
    await redis.cli('REPLICAOF', '127.0.0.1', String(await freePort()));
    expectUnavailable(await register(registry.url, { agent_id: 'agent-refused' }));
    expectUnavailable(await renew(registry.url, 'agent-before'));
    expectUnavailable(await deregister(registry.url, 'agent-before'));
    expect(await discover(registry.url, 'probe')).toEqual(['agent-before']);
    await eventually(async () => expect((await get(`${registry.url}/readyz`)).status).toBe(503));

    await redis.cli('REPLICAOF', 'NO', 'ONE');
    await healed('agent-after');
    expect((await renew(registry.url, 'agent-before')).status).toBe(200);
    expect(await discover(registry.url, 'probe')).toEqual(['agent-after', 'agent-before']);
  });

  it('refuses writes while it has too few replicas, and heals', async () => {
    await start();
    await register(registry.url, { agent_id: 'agent-before', ttl_seconds: 60 });
    await redis.cli('CONFIG', 'SET', 'min-replicas-to-write', '1');
    expectUnavailable(await register(registry.url, { agent_id: 'agent-refused' }));
    expectUnavailable(await renew(registry.url, 'agent-before'));
    expect(await discover(registry.url, 'probe')).toEqual(['agent-before']);
    await redis.cli('CONFIG', 'SET', 'min-replicas-to-write', '0');
    await healed('agent-after');
    expect((await renew(registry.url, 'agent-before')).status).toBe(200);
  });

  it('refuses newcomers when it is full, and keeps those it has', async () => {
    await start({ extraArgs: ['--maxmemory-policy', 'noeviction'] });
    await register(registry.url, { agent_id: 'agent-before', ttl_seconds: 5 });
    const watch = await watchEvents(registry.url);
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1mb');
    const big = { ...manifest({ agent_id: 'agent-big' }), metadata: { text: 'x'.repeat(10_000) } };
    expectUnavailable(await post(`${registry.url}/register`, big, { token: tokenOf('agent-big') }));
    expectUnavailable(await register(registry.url, { agent_id: 'agent-refused' }));
    // Renewals and ends need no memory to speak of, and nobody may expire for the want of it.
    expect((await renew(registry.url, 'agent-before')).status).toBe(200);
    expect((await get(`${registry.url}/readyz`)).status).toBe(200);
    expect((await deregister(registry.url, 'agent-before')).status).toBe(204);
    await watch.waitFor(about('deregistered', 'agent-before'));
    await redis.cli('CONFIG', 'SET', 'maxmemory', '0');
    await healed('agent-after');
  });

  it('needs no CONFIG and no keyspace notifications', async () => {
    await start({ extraArgs: ['--rename-command', 'CONFIG', '', '--notify-keyspace-events', ''] });
    const watch = await watchEvents(registry.url);
    await register(registry.url, { agent_id: 'agent-short', ttl_seconds: 1 });
    await register(registry.url, { agent_id: 'agent-long', ttl_seconds: 60 });
    const since = Date.now();
    await watch.waitFor(about('expired', 'agent-short'), 5_000);
    expect(Date.now() - since).toBeLessThan(2_500);
    expect(await discover(registry.url, 'probe')).toEqual(['agent-long']);
    await expect(redis.cli('CONFIG', 'GET', 'maxmemory')).rejects.toThrow('unknown command');
  });

  it('does not notice when the scripts are flushed', async () => {
    await start();
    const fleet = await startLightFleet({ registryUrls: [registry.url], size: 20, leaseSeconds: LEASE_SECONDS });
    for (let time = 0; time < 5; time += 1) {
      await redis.cli('SCRIPT', 'FLUSH');
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          register(registry.url, { agent_id: `agent-${String(time)}-${String(index)}` }),
        ),
      );
      expect(all.map(({ status }) => status)).toEqual(Array(10).fill(201));
      expect((await renew(registry.url, `agent-${String(time)}-0`)).status).toBe(200);
    }
    expect(fleet.counts).toMatchObject({ registrations: 20, failures: 0, unknownLeases: 0 });
  });

  it('goes on when all of its connections are cut, again and again', async () => {
    await start();
    const fleet = await startLightFleet({ registryUrls: [registry.url], size: 20, leaseSeconds: LEASE_SECONDS });
    const watch = await watchEvents(registry.url);
    const presence = observePresence(registry.url, 'fleet', fleet.ids);
    for (let time = 0; time < 5; time += 1) {
      const id = `agent-cut-${String(time)}`;
      await redis.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await eventually(async () => expect((await register(registry.url, { agent_id: id })).status).toBe(201), {
        timeoutMs: 2_000,
      });
      await watch.waitFor(about('registered', id), 3_000);
    }
    await presence.stop();
    expect(presence.gaps).toEqual([]);
    expect(watch.changes.map(({ type, agentId }) => `${type} ${String(agentId)}`)).toEqual(
      Array.from({ length: 5 }, (_, time) => `registered agent-cut-${String(time)}`),
    );
    expect(fleet.counts).toMatchObject({ registrations: 20, unknownLeases: 0 });
    await untilReady(registry, 3_000);
  });

  it('gets every agent back within one renewal when it is flushed, and misses nobody meanwhile', async () => {
    await start();
    const urls = [registry.url, (await startRegistry({ redisUrl: redis.url })).url];
    const agentB = await startAgentB({ registryUrl: registry.url, ttlSeconds: LEASE_SECONDS });
    const fleet = await startLightFleet({ registryUrls: urls, size: 30, leaseSeconds: LEASE_SECONDS });
    const ids = [...fleet.ids, 'agent_B'];
    for (const url of urls) await eventually(async () => expect(await discover(url, 'fleet')).toHaveLength(30));
    const watches = await Promise.all(urls.map((url) => watchEvents(url)));
    const presences = urls.flatMap((url) => [
      observePresence(url, 'fleet', fleet.ids),
      observePresence(url, 'code_review', ['agent_B']),
    ]);
    for (let time = 0; time < 3; time += 1) {
      await redis.cli('FLUSHALL');
      const since = performance.now();
      const records = () => redis.cli('EXISTS', ...ids.map((id) => `{parley}:agent:${id}`));
      await eventually(async () => expect(await records()).toBe(ids.length));
      expect(performance.now() - since).toBeLessThan(1.1 * RENEW_MS + 1_000);
    }
    for (const presence of presences) {
      await presence.stop();
      expect(presence.gaps).toEqual([]);
      expect([...presence.statuses.keys()]).toEqual([200]);
    }
    // Nobody left and nobody came: whoever watches sees the same agents, told anew.
    for (const { all, changes } of watches) {
      expect(new Set(changes.map(({ type }) => type))).toEqual(new Set(['resync', 'updated']));
      const { living, faults } = replayWatch(all);
      expect([[...living].sort(), faults]).toEqual([[...ids].sort(), []]);
    }
    expect(fleet.counts.failures).toBe(0);
    expect(await redis.cli('ZCARD', '{parley}:deadlines')).toBe(ids.length);
    expect(await agentB.stop()).toEqual({ code: 0, signal: null });
  });

  it('lets who died in the moment of the flush expire once, at its own time', async () => {
    await start();
    const watch = await watchEvents(registry.url);
    await register(registry.url, { agent_id: 'agent-dead', ttl_seconds: 2 });
    await redis.cli('FLUSHALL');
    const since = Date.now();
    await watch.waitFor(about('expired', 'agent-dead'), 5_000);
    expect(Date.now() - since).toBeGreaterThan(1_500);
    expect(Date.now() - since).toBeLessThan(3_500);
    expect(await discover(registry.url, 'probe')).toEqual([]);
    expect(watch.changes.filter(about('expired', 'agent-dead'))).toHaveLength(1);
  });
});
