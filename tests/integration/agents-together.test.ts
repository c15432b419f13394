import { setTimeout as sleep } from 'node:timers/promises';
import {
  endEverything,
  eventually,
  startDripServer,
  startLightFleet,
  startRedis,
  startSilentListener,
  watchEvents,
  type WatchedEvent,
} from '@parley/testkit';
import { discover, get, post, propose, register, type Answer } from './support/http.js';
import { freePorts, startAgentA, startAgentB, startRegistry, untilReady } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);

const about = (type: string, id: string) => (event: WatchedEvent) => event.type === type && event.agentId === id;

describe('agents whose registry comes and goes', () => {
  afterEach(endEverything, 30_000);

  it('come back by themselves after it was killed and has forgotten them', async () => {
    const [httpPort = 0] = await freePorts(1);
    const first = await startRegistry({ httpPort });
    const options = { registryUrl: first.url, ttlSeconds: 3 };
    const [agentA, agentB] = await Promise.all([startAgentA(options), startAgentB(options)]);
    first.kill('SIGKILL');
    await first.exited;
    for (const agent of [agentA, agentB]) await agent.waitForLine(/The lease could not be renewed; keeping it/u);
    // They serve each other meanwhile.
    expect((await propose(agentB.url, { agent_id: 'agent_A', capabilities: ['code_review'] })).status).toBe(200);
    await startRegistry({ httpPort });
    await eventually(async () => expect(await discover(first.url, 'translate')).toEqual(['agent_A', 'agent_B']), {
      timeoutMs: 10_000,
    });
    const done = await post(`${agentA.url}/delegate`, { capability: 'code_review', input: { source: 'let a = 1' } });
    expect(done.status).toBe(200);
  });

  it('serve without it, say that they are not registered, and register once it is there', async () => {
    const [httpPort = 0] = await freePorts(1);
    const options = { registryUrl: `http://127.0.0.1:${String(httpPort)}`, ready: false };
    const [agentA, agentB] = await Promise.all([startAgentA(options), startAgentB(options)]);
    for (const { url } of [agentA, agentB]) {
      expect((await get(`${url}/healthz`)).status).toBe(200);
      expect((await get(`${url}/readyz`)).status).toBe(503);
    }
    const direct = await propose(agentB.url, { agent_id: 'curl', capabilities: ['code_review'] });
    expect(direct.body.accepted).toBe(true);
    const alone = await post(`${agentA.url}/delegate`, { capability: 'code_review', deadline_ms: 1_000 });
    expect(alone.status).toBeGreaterThanOrEqual(502);
    expect(alone.headers.get('content-type')).toContain('application/problem+json');
    await startRegistry({ httpPort });
    for (const agent of [agentA, agentB]) await untilReady(agent, 15_000);
  });

  it('go on with another replica when theirs is killed', async () => {
    const redis = await startRedis();
    const replicas = await Promise.all([1, 2].map(() => startRegistry({ redisUrl: redis.url })));
    const [theirs, other] = replicas;
    if (theirs === undefined || other === undefined) throw new Error('two replicas were started');
    const agent = await startAgentA({ registryUrl: `${theirs.url},${other.url}`, ttlSeconds: 2 });
    const watch = await watchEvents(other.url);
    theirs.kill('SIGKILL');
    // Longer than the lease: somebody else keeps a clock.
    await register(other.url, { agent_id: 'agent-clock', ttl_seconds: 5 });
    await watch.waitFor(about('expired', 'agent-clock'));
    expect(await discover(other.url, 'summarize')).toEqual(['agent_A']);
    expect(watch.changes.filter(({ agentId }) => agentId === 'agent_A')).toEqual([]);
    await untilReady(agent, 1_000);
  });

  it('are not taken for dead because it was frozen, or dead, for longer than their lease', async () => {
    const [httpPort = 0] = await freePorts(1);
    const redis = await startRedis();
    const [inMemory, inRedis] = [await startRegistry(), await startRegistry({ redisUrl: redis.url, httpPort })];
    const urls = [inMemory.url, inRedis.url];
    const fleets = await Promise.all(
      urls.map((url) => startLightFleet({ registryUrls: [url], size: 20, leaseSeconds: 3 })),
    );
    const renewed = async (times: number) => {
      for (const { counts } of fleets) {
        const goal = counts.renewals + times * 20;
        await eventually(() => expect(counts.renewals).toBeGreaterThanOrEqual(goal), { timeoutMs: 15_000 });
      }
    };
    await renewed(1);
    inMemory.kill('SIGSTOP');
    inRedis.kill('SIGKILL');
    await sleep(5_000);
    inMemory.kill('SIGCONT');
    await startRegistry({ redisUrl: redis.url, httpPort });
    const watches = await Promise.all(urls.map((url) => watchEvents(url)));
    for (const [index, url] of urls.entries()) {
      expect((await discover(url, 'fleet')).sort()).toEqual([...(fleets[index]?.ids ?? [])].sort());
    }
    await renewed(3);
    for (const { changes } of watches) expect(changes).toEqual([]);
    for (const { counts } of fleets) expect(counts).toMatchObject({ registrations: 20, unknownLeases: 0 });
    // Once, for one lease: who does not renew now is gone at the usual time.
    for (const fleet of fleets) await fleet.stop();
    for (const url of urls) {
      await eventually(async () => expect(await discover(url, 'fleet')).toEqual([]), { timeoutMs: 5_500 });
    }
  });
});

describe('two agents', () => {
  afterEach(endEverything, 30_000);

  it('finish when they negotiate with each other both ways at once', async () => {
    const registry = await startRegistry();
    const options = { registryUrl: registry.url };
    const [agentA, agentB] = await Promise.all([startAgentA(options), startAgentB(options)]);
    const text = 'Agents find each other. They agree on terms. Then they work. Nobody waits for ever.';
    const patience = { candidate_timeout_ms: 10_000, deadline_ms: 40_000 };
    const both = () => [
      post(`${agentA.url}/delegate`, { capability: 'code_review', input: { source: 'eval("1")' }, ...patience }),
      post(`${agentB.url}/delegate`, { capability: 'summarize', input: { text }, ...patience }),
    ];
    const answers: Answer[] = await Promise.all(Array.from({ length: 8 }, both).flat());
    expect(answers.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual([]);
    const partners = answers.map(({ body }) => body.partner.agent_id);
    expect(partners).toEqual(Array(8).fill(['agent_B', 'agent_A']).flat());
  });

  it('do the same when their registry is reached over gRPC', async () => {
    const registry = await startRegistry();
    const watch = await watchEvents(registry.url);
    const options = { registryUrl: `grpc://127.0.0.1:${String(registry.grpcPort)}`, ttlSeconds: 2 };
    const [agentA, agentB] = await Promise.all([startAgentA(options), startAgentB(options)]);
    const work = { capability: 'code_review', input: { source: 'eval("1")' }, candidate_timeout_ms: 10_000 };
    expect((await post(`${agentA.url}/delegate`, work)).status).toBe(200);
    await watch.waitFor(({ type }) => type === 'ended');
    // Longer than a lease: somebody else keeps a clock.
    await register(registry.url, { agent_id: 'agent-clock', ttl_seconds: 4 });
    await watch.waitFor(about('expired', 'agent-clock'));
    for (const agent of [agentA, agentB]) expect(await agent.stop()).toEqual({ code: 0, signal: null });
    await watch.waitFor(about('deregistered', 'agent_B'));
    const told = watch.changes.map(({ type, agentId }) => `${type} ${agentId ?? ''}`);
    expect(told.filter((line) => line.startsWith('expired agent_'))).toEqual([]);
    expect(told).toContain('deregistered agent_A');
  });

  it('pass over whoever is silent or drips', async () => {
    const registry = await startRegistry();
    const options = { registryUrl: registry.url };
    const [agentA] = await Promise.all([startAgentA(options), startAgentB(options)]);
    const [silent, dripping] = await Promise.all([startSilentListener(), startDripServer()]);
    await register(registry.url, { agent_id: 'agent_S', endpoint: silent.url, capabilities: ['code_review'] });
    await register(registry.url, { agent_id: 'agent_D', endpoint: dripping.url, capabilities: ['code_review'] });
    const work = { capability: 'code_review', input: { source: 'eval("1")' }, candidate_timeout_ms: 400 };
    const { status, body } = await post(`${agentA.url}/delegate`, { ...work, prefer: ['agent_S', 'agent_D'] });
    expect([status, body.partner.agent_id]).toEqual([200, 'agent_B']);
    const outcomes = new Map(
      body.attempts.map((one: { agent_id: string; outcome: string }) => [one.agent_id, one.outcome]),
    );
    expect(outcomes.get('agent_S')).toBe('timeout');
    expect(outcomes.get('agent_D')).toBe('timeout');
    expect(silent.accepted).toBeGreaterThan(0);
    // Whoever was silent is not asked first again.
    const again = await post(`${agentA.url}/delegate`, work);
    expect([again.status, again.body.partner.agent_id]).toEqual([200, 'agent_B']);
    expect(again.ms).toBeLessThan(1_000);
    await eventually(() => expect([silent.open, dripping.open]).toEqual([0, 0]));
  });
});
