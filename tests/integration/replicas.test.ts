import { setTimeout as sleep } from 'node:timers/promises';
import {
  eventually,
  startRedis,
  watchEvents,
  type RedisServer,
  type WatchedEvent,
  type WatchedEvents,
} from '@parley/testkit';
import { deregister, discover, get, register, renew } from './support/http.js';
import { freePorts, START_MS, startAgentA, startRegistry, untilReady, type Service } from './support/services.js';

const REPLICAS = 3;
const ROUND = [0, 1, 2];
const { jest } = import.meta;
jest.setTimeout(60_000);

describe('three replicas on one Redis', () => {
  let redis: RedisServer;
  let ports: number[];
  let replicas: Service[];

  beforeAll(async () => {
    redis = await startRedis();
    ports = await freePorts(REPLICAS);
    replicas = await Promise.all(ports.map((httpPort) => startRegistry({ redisUrl: redis.url, httpPort })));
  }, 2 * START_MS);

  const at = (index: number): Service => {
    const replica = replicas[index % REPLICAS];
    if (replica === undefined) throw new Error('no such replica');
    return replica;
  };
  const watchAll = (options?: { lastEventId: string }) =>
    Promise.all(replicas.map(({ url }) => watchEvents(url, options)));
  const about = (type: string, id: string) => (event: WatchedEvent) => event.type === type && event.agentId === id;
  const typesOf = ({ changes }: WatchedEvents, id: string) =>
    changes.filter(({ agentId }) => agentId === id).map(({ type }) => type);
  const told = ({ changes }: WatchedEvents) =>
    changes.map(({ type, agentId, id }) => `${type} ${String(agentId)} ${String(id)}`);
  /** From now until every replica answers this. */
  const everywhere = async (capability: string, ids: readonly string[], timeoutMs = 5_000) => {
    const since = performance.now();
    const one = async ({ url }: Service) => {
      await eventually(async () => expect(await discover(url, capability)).toEqual(ids), { timeoutMs, intervalMs: 10 });
      return performance.now() - since;
    };
    return Math.max(...(await Promise.all(replicas.map(one))));
  };

  it('show a registration that one of them took, within 250 ms, to the one that took it at once', async () => {
    const times: number[] = [];
    for (let index = 0; index < 24; index += 1) {
      const capability = `quick-${String(index)}`;
      const agent_id = `agent-quick-${String(index)}`;
      expect((await register(at(index).url, { agent_id, capabilities: [capability] })).status).toBe(201);
      const since = performance.now();
      expect(await discover(at(index).url, capability)).toEqual([agent_id]);
      await everywhere(capability, [agent_id]);
      times.push(performance.now() - since);
    }
    expect(times.filter((ms) => ms > 250)).toEqual([]);
    for (let index = 0; index < 24; index += 1) {
      expect((await deregister(at(index + 1).url, `agent-quick-${String(index)}`)).status).toBe(204);
      expect(await discover(at(index + 1).url, `quick-${String(index)}`)).toEqual([]);
    }
  });

  it('tell every watcher the same events in the same order', async () => {
    const watches = await watchAll();
    const ids = Array.from({ length: 30 }, (_, index) => `agent-order-${String(index)}`);
    await Promise.all(
      ids.map((agent_id, index) => register(at(index).url, { agent_id, ttl_seconds: 1 + (index % 2) })),
    );
    await Promise.all(ids.slice(0, 10).map((id, index) => deregister(at(index + 1).url, id)));
    for (const watch of watches) for (const id of ids.slice(10)) await watch.waitFor(about('expired', id));

    const [first, ...others] = watches.map(told);
    for (const other of others) expect(other).toEqual(first);
    const count = (type: string) => first?.filter((line) => line.startsWith(`${type} `)).length;
    expect([count('registered'), count('deregistered'), count('expired')]).toEqual([30, 10, 20]);
    expect(new Set(first).size).toBe(60);
    const revisions = (watches[0]?.changes ?? []).map(({ revision }) => revision);
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(await discover(at(0).url, 'probe')).toEqual([]);
    for (const watch of watches) watch.stop();
  });

  it('resume a watcher of another replica: nothing lost, nothing twice', async () => {
    const witness = await watchEvents(at(2).url);
    const seen: WatchedEvent[] = [];
    let lastEventId: string | undefined;
    for (let round = 0; round < 9; round += 1) {
      const watch = await watchEvents(at(round).url, lastEventId === undefined ? {} : { lastEventId });
      const one = `agent-resume-${String(round)}`;
      await register(at(round + 1).url, { agent_id: one });
      const last = await watch.waitFor(about('registered', one));
      watch.stop();
      lastEventId = last.id;
      seen.push(...watch.changes.filter(({ revision }) => revision <= last.revision));
      // While nobody of ours listens.
      await register(at(round + 2).url, { agent_id: `agent-between-${String(round)}` });
      await deregister(at(round).url, one);
    }
    await witness.waitFor(about('deregistered', 'agent-resume-8'));
    const upTo = seen.at(-1)?.revision ?? 0;
    expect(seen.map(({ id }) => id)).toEqual(
      witness.changes.filter(({ revision }) => revision <= upTo).map(({ id }) => id),
    );
    expect(seen.length).toBe(9 + 8 * 2);
    witness.stop();
    for (let round = 0; round < 9; round += 1) await deregister(at(0).url, `agent-between-${String(round)}`);
  });

  it('keep an agent alive that renews at one of them only, and at another each time', async () => {
    const watches = await watchAll();
    await register(at(0).url, { agent_id: 'agent-one', capabilities: ['alive'], ttl_seconds: 2 });
    await register(at(0).url, { agent_id: 'agent-round', capabilities: ['alive'], ttl_seconds: 2 });
    // Five leases long; the pause is the agent's own.
    for (let beat = 0; beat < 14; beat += 1) {
      await sleep(700);
      const [one, round] = await Promise.all([renew(at(1).url, 'agent-one'), renew(at(beat).url, 'agent-round')]);
      expect([one.status, round.status]).toEqual([200, 200]);
      for (const { url } of replicas) expect(await discover(url, 'alive')).toEqual(['agent-one', 'agent-round']);
    }
    const took = await everywhere('alive', [], 4_000);
    expect(took).toBeLessThan(3_500);
    for (const watch of watches) {
      for (const id of ['agent-one', 'agent-round']) {
        await watch.waitFor(about('expired', id));
        expect(typesOf(watch, id)).toEqual(['registered', 'expired']);
      }
      watch.stop();
    }
  });

  it('go on when one of them is killed, and take it back', async () => {
    await register(at(1).url, { agent_id: 'agent-stays', capabilities: ['stays'], ttl_seconds: 30 });
    const watch = await watchEvents(at(0).url);
    const broken = await watchEvents(at(1).url);
    // It has something to resume from only once it has heard something.
    await broken.waitFor(({ type }) => type === 'snapshot');
    at(1).kill('SIGKILL');
    expect(await broken.ended).toBe('broken');
    for (const index of [0, 2]) {
      expect(await discover(at(index).url, 'stays')).toEqual(['agent-stays']);
      expect((await renew(at(index).url, 'agent-stays')).status).toBe(200);
      expect(
        (await register(at(index).url, { agent_id: `agent-after-${String(index)}`, capabilities: ['after'] })).status,
      ).toBe(201);
    }
    for (const index of [0, 2]) {
      await eventually(async () =>
        expect(await discover(at(index).url, 'after')).toEqual(['agent-after-0', 'agent-after-2']),
      );
    }
    replicas[1] = await startRegistry({ redisUrl: redis.url, httpPort: ports[1] ?? 0 });
    expect(await discover(at(1).url, 'after')).toEqual(['agent-after-0', 'agent-after-2']);
    expect(await discover(at(1).url, 'stays')).toEqual(['agent-stays']);
    // Whoever was cut off resumes at one that was there all the time, and misses nothing.
    const lastEventId = broken.all.at(-1)?.id ?? '';
    const resumed = await watchEvents(at(2).url, { lastEventId });
    await resumed.waitFor(about('registered', 'agent-after-2'));
    expect(told(resumed)).toEqual(told(watch));
    // The one that is back was not there, and either knows all the same or says so and tells the whole.
    const anew = await watchEvents(at(1).url, { lastEventId });
    const whole = await anew.waitFor(({ type, agentId }) => type === 'snapshot' || agentId === 'agent-after-2');
    if (whole.type === 'snapshot') {
      expect(anew.all[0]).toMatchObject({ type: 'resync', data: { reason: 'too_old' } });
      const agents = whole.data['agents'] as { agent_id: string }[];
      const ids = agents.map(({ agent_id }) => agent_id);
      expect(ids.sort()).toEqual(['agent-after-0', 'agent-after-2', 'agent-stays']);
    } else expect(told(anew)).toEqual(told(watch));
    for (const id of ['agent-stays', 'agent-after-0', 'agent-after-2']) await deregister(at(0).url, id);
    for (const open of [watch, resumed, anew]) open.stop();
  });

  it('drop an agent that was killed when its lease is over, at every replica within a second', async () => {
    const watches = await watchAll();
    const agent = await startAgentA({ registryUrl: replicas.map(({ url }) => url).join(','), ttlSeconds: 3 });
    await everywhere('summarize', ['agent_A']);
    agent.kill('SIGKILL');
    await agent.exited;
    const { body } = await get(`${at(0).url}/agents/agent_A`);
    const leaseLeft = Date.parse(body.lease.expires_at) - Date.now();
    expect(leaseLeft).toBeLessThanOrEqual(3_000);
    const took = await everywhere('summarize', [], leaseLeft + 3_000);
    expect(took).toBeLessThan(leaseLeft + 1_000);
    for (const watch of watches) {
      await watch.waitFor(about('expired', 'agent_A'));
      expect(typesOf(watch, 'agent_A')).toEqual(['registered', 'expired']);
      watch.stop();
    }
  });

  it('drop an agent that is stopped at once, and never call it expired', async () => {
    const watches = await watchAll();
    const agent = await startAgentA({ registryUrl: replicas.map(({ url }) => url).join(','), ttlSeconds: 2 });
    await everywhere('summarize', ['agent_A']);
    expect(await agent.stop()).toEqual({ code: 0, signal: null });
    expect(await everywhere('summarize', [])).toBeLessThan(250);
    // A marker that expires later than the agent would have.
    await register(at(0).url, { agent_id: 'agent-marker', ttl_seconds: 4 });
    for (const watch of watches) {
      await watch.waitFor(about('expired', 'agent-marker'));
      expect(typesOf(watch, 'agent_A')).toEqual(['registered', 'deregistered']);
      watch.stop();
    }
  });

  it('agree on the whole in the end', async () => {
    await Promise.all(replicas.map((replica) => untilReady(replica)));
    const answers = await Promise.all(ROUND.map((index) => get(`${at(index).url}/agents`)));
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body);
    expect(answers[0]?.body.total).toBe(0);
    expect(await redis.cli('ZCARD', '{parley}:deadlines')).toBe(0);
    for (const replica of replicas) expect(await replica.stop()).toEqual({ code: 0, signal: null });
  });
});
