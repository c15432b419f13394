import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endEverything, eventually, startRedisCluster, type RedisCluster } from '@parley/testkit';
import { agreeWith } from './support/held-agreement.js';
import { get, register } from './support/http.js';
import { underLoad } from './support/redis-change.js';
import { START_MS, startAgentB, startRegistry, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

const OF_REGISTRY = '{parley}';
const OF_AGENT = '{parley-agent:agent_B}';

describe('a registry and an agent on a Redis Cluster', () => {
  let redis: RedisCluster;
  let registries: Service[];
  let agentB: Service;

  beforeAll(async () => {
    redis = await startRedisCluster({ masters: 3, replicas: 1 });
    registries = await Promise.all([0, 1].map(() => startRegistry({ env: redis.env })));
    agentB = await startAgentB({ registryUrl: registries[0]?.url ?? '', env: redis.env });
  }, 3 * START_MS);
  afterAll(endEverything, 30_000);

  it('keep all of a namespace in one slot, and namespaces in different ones', async () => {
    const slots = await Promise.all(['{one}', '{two}', '{three}', OF_AGENT].map((tag) => redis.slotOf(tag)));
    expect(new Set(slots).size).toBe(4);
    const keys = await Promise.all(redis.nodes.slice(0, 3).map((node) => node.cli('KEYS', '*')));
    const all = (keys as string[][]).flat();
    expect(all.length).toBeGreaterThan(5);
    for (const key of all) expect(key).toMatch(/^\{parley(?:-agent:agent_B)?\}:/u);
  });

  it('lose nothing and refuse nothing while their slots move to other nodes', async () => {
    const held = await agreeWith(agentB.url);
    const answers: number[] = [];
    const report = await underLoad({
      title: 'Cluster, slot moved',
      registries,
      master: () => redis.ownerOf(OF_REGISTRY),
      change: async () => {
        for (const key of [OF_REGISTRY, OF_AGENT]) {
          const from = await redis.ownerOf(key);
          const to = await redis.anotherMaster(from);
          const working = Promise.all([held.work(), held.work()]);
          // Some keys are here and others there for a while.
          const moved = await redis.moveSlot(key, to, { batch: 25, between: () => sleep(5) });
          expect(moved).toBeGreaterThan(5);
          expect(await redis.ownerOf(key)).toBe(to);
          answers.push(...(await working), await held.work());
        }
      },
    });
    expect(report.lost).toEqual([]);
    expect(report.absences).toEqual([]);
    expect(report.counts).toMatchObject({ unknownLeases: 0, blindDiscoveries: 0 });
    for (const watch of report.watches) expect(watch).toEqual({ unseen: [], faults: [], resyncs: 0 });
    // Whoever is asked to wait waits up to 800 ms; a machine with too much to do may take longer to move the slots.
    expect(report.longestOutageMs).toBeLessThan(report.changedMs + 1_000);
    if (report.changedMs < 700) expect(report.counts.failures).toBe(0);
    expect(answers).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await held.state()).toMatchObject({ state: 'active', calls_used: 6 });
  });

  it('refuse while a slot is between two nodes for longer than anybody waits, and carry nothing out twice', async () => {
    const from = await redis.ownerOf(OF_REGISTRY);
    const url = registries[0]?.url ?? '';
    let refused: Awaited<ReturnType<typeof register>>[] = [];
    await redis.moveSlot(OF_REGISTRY, await redis.anotherMaster(from), {
      batch: 50,
      between: async () => {
        if (refused.length > 0) return;
        refused = await Promise.all([0, 1, 2].map((at) => register(url, { agent_id: `agent-between-${String(at)}` })));
      },
    });
    for (const { status, body, ms } of refused) {
      expect([status, body.code]).toEqual([503, 'store_unavailable']);
      expect(ms).toBeLessThan(2_000);
    }
    const again = await eventually(async () => {
      const answer = await register(url, { agent_id: 'agent-between-0' });
      expect(answer.status).toBe(201);
      return answer;
    });
    expect(again.body.revision).toBeGreaterThan(0);
    expect((await get(`${url}/agents/agent-between-1`)).status).toBe(404);
  });

  it('lose no registration and no event when the master of their slot is killed', async () => {
    const held = await agreeWith(agentB.url);
    const before = await redis.ownerOf(OF_REGISTRY);
    expect(await redis.replicaOf(before)).toBeDefined();
    const report = await underLoad({
      title: 'Cluster, master killed',
      registries,
      master: () => redis.ownerOf(OF_REGISTRY),
      change: async () => {
        process.kill(before.pid, 'SIGKILL');
        await eventually(async () => expect(await redis.ownerOf(OF_REGISTRY)).not.toBe(before), { timeoutMs: 15_000 });
      },
    });
    expect(report.lost).toEqual([]);
    expect(report.absences).toEqual([]);
    for (const { unseen, faults } of report.watches) expect([unseen, faults]).toEqual([[], []]);
    expect(report.counts.blindDiscoveries).toBe(0);
    expect(report.longestOutageMs).toBeLessThan(10_000);
    expect(await held.work()).toBe(200);
    for (const service of [agentB, ...registries]) expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('a registry on a Redis Cluster that takes TLS only', () => {
  const folder = join(import.meta.dirname, 'support', 'redis-tls');
  const certFile = join(folder, 'cert.pem');

  it('is ready with the certificate of the cluster, and not without', async () => {
    const redis = await startRedisCluster({ masters: 1, tls: { certFile, keyFile: join(folder, 'key.pem') } });
    const [trusting, doubting] = await Promise.all([
      startRegistry({ env: { ...redis.env, NODE_EXTRA_CA_CERTS: certFile } }),
      startRegistry({ env: { ...redis.env, NODE_EXTRA_CA_CERTS: '' }, ready: false }),
    ]);
    expect((await register(trusting.url, { agent_id: 'agent-tls' })).status).toBe(201);
    expect((await register(doubting.url, { agent_id: 'agent-no-tls' })).body.code).toBe('store_unavailable');
    await doubting.waitForLine(/Redis cannot be reached.*self-signed certificate/u);
    for (const registry of [trusting, doubting]) expect(await registry.stop()).toEqual({ code: 0, signal: null });
  });
});
