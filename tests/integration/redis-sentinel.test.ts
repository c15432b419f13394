import { endEverything, eventually, startRedisSentinel, type RedisSentinel, type RedisServer } from '@parley/testkit';
import { agreeWith } from './support/held-agreement.js';
import { get, register } from './support/http.js';
import { underLoad } from './support/redis-change.js';
import { START_MS, startAgentB, startRegistry, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

const PASSWORD = 'swordfish-of-the-servers';

describe('a registry whose Redis is watched by sentinels', () => {
  let redis: RedisSentinel;
  let registries: Service[];

  beforeAll(async () => {
    redis = await startRedisSentinel({ password: PASSWORD });
    registries = await Promise.all([0, 1].map(() => startRegistry({ env: redis.env })));
  }, 2 * START_MS);
  afterAll(endEverything, 30_000);

  const another = async (than: RedisServer): Promise<RedisServer> =>
    eventually(
      async () => {
        const master = await redis.master();
        if (master === than) throw new Error('nobody took its place yet');
        return master;
      },
      { timeoutMs: 15_000 },
    );

  it('loses no registration and no event when the master is killed, and agreements go on', async () => {
    const agentB = await startAgentB({ registryUrl: registries[0]?.url ?? '', env: redis.env });
    const held = await agreeWith(agentB.url);
    expect(await held.work()).toBe(200);
    const before = await redis.master();

    const report = await underLoad({
      title: 'Sentinel, master killed',
      registries,
      master: () => redis.master(),
      change: async () => {
        process.kill(before.pid, 'SIGKILL');
        await another(before);
      },
    });

    expect(report.lost).toEqual([]);
    expect(report.absences).toEqual([]);
    for (const { unseen, faults } of report.watches) expect([unseen, faults]).toEqual([[], []]);
    expect(report.counts.blindDiscoveries).toBe(0);
    expect(report.counts.failures).toBeGreaterThan(0);
    expect(report.longestOutageMs).toBeLessThan(10_000);
    expect(await held.state()).toMatchObject({ state: 'active', calls_used: 1 });
    expect(await held.work()).toBe(200);
    expect(await (await agreeWith(agentB.url)).work()).toBe(200);
    expect(await agentB.stop()).toEqual({ code: 0, signal: null });
  });

  it('leaves a master that was frozen and does not know that it was replaced', async () => {
    const [first, ...others] = redis.servers;
    if (first === undefined) throw new Error('no servers');
    const before = await redis.master();
    // The replica that is left must be known again, or there is nobody to take over.
    await eventually(
      async () => {
        const alive = others.filter((server) => server !== before);
        for (const server of alive) expect(String(await server.cli('INFO', 'replication'))).toContain('link_status:up');
      },
      { timeoutMs: 15_000 },
    );
    const report = await underLoad({
      title: 'Sentinel, master frozen and woken',
      registries,
      master: () => redis.master(),
      change: async () => {
        before.pause();
        await another(before);
        await before.resume();
      },
    });
    expect(report.lost).toEqual([]);
    for (const { unseen, faults } of report.watches) expect([unseen, faults]).toEqual([[], []]);
    expect((await register(registries[1]?.url ?? '', { agent_id: 'agent-after' })).status).toBe(201);
    expect(await (await redis.master()).cli('EXISTS', '{parley}:agent:agent-after')).toBe(1);
  });

  it('stops in order without any Redis, and has told nobody the password', async () => {
    for (const server of redis.servers) await server.stop();
    for (const registry of registries) {
      await eventually(async () => expect((await get(`${registry.url}/readyz`)).status).toBe(503));
      const refused = await register(registry.url, { agent_id: 'agent-late' });
      expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable']);
      expect(refused.ms).toBeLessThan(2_000);
      expect(await registry.stop({ graceMs: 20_000 })).toEqual({ code: 0, signal: null });
      expect(registry.output()).not.toContain(PASSWORD);
      expect(registry.output()).toContain('Redis cannot be reached');
    }
  });
});
