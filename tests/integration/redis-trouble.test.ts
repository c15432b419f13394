import { setTimeout as sleep } from 'node:timers/promises';
import {
  endEverything,
  eventually,
  freePort,
  startLightFleet,
  startRedis,
  watchEvents,
  type LightFleet,
  type RedisServer,
  type StartRedisOptions,
  type WatchedEvents,
} from '@parley/testkit';
import { call, deregister, discover, expectUnavailable, get, register, renew, tokenOf } from './support/http.js';
import { observePresence, type Presence } from './support/presence.js';
import { startAgentB, startRegistry, untilReady, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);
const LEASE_SECONDS = 3;
const RENEW_MS = 1_000;

const ready = async (registry: Service) => (await get(`${registry.url}/readyz`)).status;

describe('a registry whose Redis is in trouble', () => {
  let redis: RedisServer;
  let registry: Service;

  afterEach(endEverything, 30_000);

  async function start(options: StartRedisOptions = {}): Promise<void> {
    redis = await startRedis(options);
    registry = await startRegistry({ redisUrl: redis.url });
  }

  /** Agents with short leases, watched in both ways that exist. */
  async function withFleet(size: number): Promise<{ fleet: LightFleet; watch: WatchedEvents; presence: Presence }> {
    const fleet = await startLightFleet({ registryUrls: [registry.url], size, leaseSeconds: LEASE_SECONDS });
    const watch = await watchEvents(registry.url);
    return { fleet, watch, presence: observePresence(registry.url, 'fleet', fleet.ids) };
  }

  async function expectAllWell({ fleet, watch, presence }: Awaited<ReturnType<typeof withFleet>>): Promise<void> {
    await presence.stop();
    expect(presence.gaps).toEqual([]);
    expect([...presence.statuses.keys()]).toEqual([200]);
    expect(watch.changes.filter(({ type }) => type === 'expired')).toEqual([]);
    const revisions = watch.all.filter(({ type }) => type !== 'resync').map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect([...(await discover(registry.url, 'fleet'))].sort()).toEqual([...fleet.ids].sort());
    await fleet.stop();
  }

  /** Until each of them has renewed so many times from now on. */
  const renewed = async ({ counts, ids }: LightFleet, times: number) => {
    const goal = counts.renewals + times * ids.length;
    await eventually(() => expect(counts.renewals).toBeGreaterThanOrEqual(goal), { timeoutMs: 15_000 });
  };

  const outage = async (ms: number) => {
    const over = sleep(ms);
    expectUnavailable(await register(registry.url, { agent_id: 'agent-late' }));
    expectUnavailable(await renew(registry.url, 'fleet-0'));
    expectUnavailable(await deregister(registry.url, 'fleet-0'));
    await over;
    // Later as well, and many at once.
    const writes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => renew(registry.url, `fleet-${String(index)}`)),
    );
    for (const write of writes) expectUnavailable(write);
    expect(await ready(registry)).toBe(503);
    expect((await get(`${registry.url}/healthz`)).status).toBe(200);
  };

  it('starts without it, says so, and serves once it is there', async () => {
    const port = await freePort();
    registry = await startRegistry({ redisUrl: `redis://127.0.0.1:${String(port)}`, ready: false });
    expect((await get(`${registry.url}/healthz`)).status).toBe(200);
    const readiness = await get(`${registry.url}/readyz`);
    expect([readiness.status, readiness.body.status]).toEqual([503, 'not_ready']);
    expectUnavailable(await register(registry.url, { agent_id: 'agent-early' }));
    expectUnavailable(await get(`${registry.url}/discover?capabilities=probe`));

    redis = await startRedis({ port });
    await untilReady(registry, 5_000);
    expect((await register(registry.url, { agent_id: 'agent-early' })).status).toBe(201);
    expect(await discover(registry.url, 'probe')).toEqual(['agent-early']);
  });

  it('goes on reading while it is down, refuses writes at once, and heals', async () => {
    await start({ appendonly: true });
    const all = await withFleet(20);
    await redis.stop();
    await outage(LEASE_SECONDS * 1_000 + 1_000);
    const stale = await get(`${registry.url}/agents/fleet-1`);
    expect(stale.headers.get('warning')).toMatch(/^110 /u);
    expect(Date.parse(stale.body.stale_since)).toBeLessThan(Date.now());

    await redis.restart({ keepData: true });
    await untilReady(registry, 3_000);
    expect((await renew(registry.url, 'fleet-0')).status).toBe(200);
    expect((await get(`${registry.url}/agents/agent-late`)).status).toBe(404);
    await renewed(all.fleet, 3);
    expect(all.presence.stale).toBeGreaterThan(0);
    expect(all.fleet.counts).toMatchObject({ unknownLeases: 0, brokenPromises: 0 });
    expect(all.watch.changes).toEqual([]);
    await expectAllWell(all);
  });

  it('answers from memory no longer than it is allowed to', async () => {
    redis = await startRedis();
    registry = await startRegistry({ redisUrl: redis.url, env: { REGISTRY_MAX_STALE_SECONDS: '2' } });
    await register(registry.url, { agent_id: 'agent-old' });
    await redis.stop();
    await eventually(async () => expectUnavailable(await get(`${registry.url}/discover?capabilities=probe`)));
    expectUnavailable(await get(`${registry.url}/agents`));
    await redis.restart({ keepData: false });
    await untilReady(registry, 3_000);
    // Nobody keeps it, but its lease is not over.
    expect(await discover(registry.url, 'probe')).toEqual(['agent-old']);
  });

  it.each([5_000, 15_000])(
    'does so too when it is frozen for %i ms, and carries nothing out afterwards',
    async (ms) => {
      await start();
      const all = await withFleet(20);
      redis.pause();
      await outage(ms);
      await redis.resume();
      await untilReady(registry, 3_000);
      // The log is read again, by the reader that was blocked.
      expect((await register(registry.url, { agent_id: 'agent-after' })).status).toBe(201);
      await all.watch.waitFor(({ type, agentId }) => type === 'registered' && agentId === 'agent-after', 3_000);
      await renewed(all.fleet, 3);
      expect((await get(`${registry.url}/agents/agent-late`)).status).toBe(404);
      expect(all.watch.changes.map(({ type, agentId }) => `${type} ${String(agentId)}`)).toEqual([
        'registered agent-after',
      ]);
      await expectAllWell(all);
    },
  );

  it.each(['frozen', 'dead'])('stops in order while it is %s', async (how) => {
    await start();
    await register(registry.url, { agent_id: 'agent-stay' });
    if (how === 'frozen') redis.pause();
    else await redis.stop();
    await eventually(async () => expect(await ready(registry)).toBe(503));
    const since = performance.now();
    expect(await registry.stop({ graceMs: 20_000 })).toEqual({ code: 0, signal: null });
    expect(performance.now() - since).toBeLessThan(6_000);
  });

  it('gets every agent back, without anybody doing anything, when it restarts empty', async () => {
    await start();
    const agentB = await startAgentB({ registryUrl: registry.url, ttlSeconds: LEASE_SECONDS });
    const all = await withFleet(20);
    const ids = [...all.fleet.ids, 'agent_B'];
    for (let time = 0; time < 2; time += 1) {
      await redis.restart({ keepData: false });
      const since = performance.now();
      const records = () => redis.cli('EXISTS', ...ids.map((id) => `{parley}:agent:${id}`));
      await eventually(async () => expect(await records()).toBe(ids.length));
      // One renewal interval with its jitter, and what an attempt in the outage may have cost.
      expect(performance.now() - since).toBeLessThan(1.1 * RENEW_MS + 1_000);
      expect(await redis.cli('ZCARD', '{parley}:deadlines')).toBe(ids.length);
    }
    await untilReady(registry, 3_000);
    expect(all.watch.changes.filter(({ type }) => type === 'registered')).toEqual([]);
    await expectAllWell(all);
    expect(await agentB.stop()).toEqual({ code: 0, signal: null });
  });

  it('notices that it came back with older data, and loses nobody', async () => {
    await start();
    await register(registry.url, { agent_id: 'agent-saved', capabilities: ['saved'], ttl_seconds: 60 });
    await redis.cli('SAVE');
    const all = await withFleet(10);
    expect((await deregister(registry.url, 'agent-saved')).status).toBe(204);
    await redis.kill();
    await eventually(async () => expect(await ready(registry)).toBe(503));
    await redis.restart({ keepData: true });
    await untilReady(registry, 3_000);
    await eventually(async () => {
      for (const id of all.fleet.ids) expect(await redis.cli('EXISTS', `{parley}:agent:${id}`)).toBe(1);
    });
    expect((await register(registry.url, { agent_id: 'agent-new', capabilities: ['new'] })).status).toBe(201);
    await all.watch.waitFor(({ agentId }) => agentId === 'agent-new');
    expect(all.watch.changes.map(({ type }) => type)).toContain('resync');
    // What that Redis never heard of is not undone by anybody; the owner can say it again.
    expect((await call('DELETE', `${registry.url}/agents/agent-saved`, { token: tokenOf('agent-saved') })).status).toBe(
      204,
    );
    await expectAllWell(all);
  });
});
