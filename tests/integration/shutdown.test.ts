import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { grpcRegistryClient } from '@parley/agent';
import { endEverything, eventually, startSilentListener, watchEvents } from '@parley/testkit';
import { get, manifest, post, propose, register, tokenOf } from './support/http.js';
import { startLoad, untilNotReady } from './support/load.js';
import { startAgentA, startAgentB, startRegistry, startWaitingAgent, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);
const DRAIN_MS = 600;
/** For a machine that does other things as well. */
const SLACK_MS = 3_000;

const phasesOf = (service: Service) => [...service.output().matchAll(/stopped: (.+)$/gmu)].map(([, name]) => name);

/** SIGTERM now; how it ended and how long that took. */
async function stopped(service: Service): Promise<{ code: number | null; ms: number }> {
  const since = performance.now();
  const { code } = await service.stop({ graceMs: 25_000 });
  return { code, ms: performance.now() - since };
}

describe('a registry that is stopped', () => {
  let registry: Service;

  beforeEach(async () => {
    registry = await startRegistry({ env: { REGISTRY_DRAIN_DELAY_MS: String(DRAIN_MS) } });
  });
  afterEach(endEverything, 30_000);

  it('answers everything it took, under load and in order of its phases, and ends with 0', async () => {
    const watches = await Promise.all([watchEvents(registry.url), watchEvents(registry.url)]);
    const load = startLoad({
      workers: 16,
      next: (count) => {
        const id = `agent-${String(count % 50)}`;
        const headers = { authorization: `Bearer ${tokenOf(id)}` };
        if (count % 3 === 0) return { method: 'GET', url: `${registry.url}/discover?capabilities=probe` };
        if (count % 3 === 1)
          return { method: 'POST', url: `${registry.url}/register`, headers, body: manifest({ agent_id: id }) };
        return { method: 'GET', url: `${registry.url}/agents?limit=10` };
      },
    });
    await watches[0].waitFor(({ agentId }) => agentId === 'agent-49');
    const end = stopped(registry);
    await untilNotReady(registry.url);
    expect((await get(`${registry.url}/healthz`)).status).toBe(200);
    const { answers, broken } = await load.stop();
    const { code, ms } = await end;
    expect(broken).toEqual([]);
    expect([...answers.keys()].sort()).toEqual([200, 201]);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(DRAIN_MS + SLACK_MS);
    expect(phasesOf(registry)).toEqual([
      'not ready',
      'load balancers notice',
      'requests in flight',
      'outgoing calls',
      'store',
    ]);
    for (const watch of watches) expect(await watch.ended).toBe('ended');
  });

  it('lets a slow request finish, and takes no new ones meanwhile', async () => {
    const silent = await startSilentListener();
    await register(registry.url, { agent_id: 'agent_S', endpoint: silent.url, capabilities: ['listen'] });
    const slow = propose(registry.url, { agent_id: 'curl', capabilities: ['listen'], candidate_timeout_ms: 2_500 });
    await eventually(() => expect(silent.accepted).toBeGreaterThan(0));
    const end = stopped(registry);
    await registry.waitForLine(/stopped: load balancers notice/u);
    await eventually(() => expect(fetch(`${registry.url}/healthz`)).rejects.toThrow('fetch failed'));
    const { status, body } = await slow;
    expect([status, body.accepted]).toEqual([200, false]);
    expect(body.attempts).toMatchObject([{ agent_id: 'agent_S', outcome: 'timeout' }]);
    expect((await end).code).toBe(0);
  });

  it('ends watches over gRPC too, and does not wait for them', async () => {
    const client = grpcRegistryClient(`grpc://127.0.0.1:${String(registry.grpcPort)}`);
    const over = new AbortController();
    const connections: boolean[] = [];
    const watching = (async () => {
      const events = client.watch({ signal: over.signal, onConnection: (up) => connections.push(up) });
      for await (const event of events) expect(event.type).toBe('snapshot');
    })();
    await eventually(() => expect(connections).toEqual([true]));
    const { code, ms } = await stopped(registry);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(DRAIN_MS + SLACK_MS);
    await eventually(() => expect(connections.slice(0, 2)).toEqual([true, false]));
    over.abort();
    await watching;
    await client.close();
  });

  it('exits at once at the second signal', async () => {
    const silent = await startSilentListener();
    await register(registry.url, { agent_id: 'agent_S', endpoint: silent.url, capabilities: ['listen'] });
    const slow = propose(registry.url, { agent_id: 'curl', capabilities: ['listen'], candidate_timeout_ms: 10_000 });
    const cut = expect(slow).rejects.toThrow();
    await eventually(() => expect(silent.accepted).toBeGreaterThan(0));
    registry.kill('SIGTERM');
    await registry.waitForLine(/stopped: load balancers notice/u);
    const since = performance.now();
    registry.kill('SIGTERM');
    expect(await registry.exited).toEqual({ code: 1, signal: null });
    expect(performance.now() - since).toBeLessThan(3_000);
    await cut;
  });
});

describe('an agent that is stopped', () => {
  let registry: Service;

  beforeEach(async () => {
    registry = await startRegistry();
  });
  afterEach(endEverything, 30_000);

  const startWaiting = () =>
    startWaitingAgent({ registryUrl: registry.url, env: { AGENT_DRAIN_DELAY_MS: String(DRAIN_MS) } });
  /** Work of `ms` under an agreement of its own. */
  const wait = async (agent: Service, ms: number) => {
    const { body } = await propose(agent.url, { agent_id: 'curl', capabilities: ['wait'] });
    const { agreement, agreement_proof: proof } = body;
    const { agreement_id, terms_digest } = agreement;
    return {
      answer: post(
        `${agent.url}/invoke`,
        { agreement_id, terms_digest, capability: 'wait', call_id: randomUUID(), input: { ms } },
        { proof },
      ),
    };
  };

  it('leaves the registry at once, finishes the work it took, answers everybody, and ends with 0', async () => {
    const agent = await startWaiting();
    const watch = await watchEvents(registry.url);
    const work = await Promise.all([1_500, 1_800, 2_000].map((ms) => wait(agent, ms)));
    const load = startLoad({
      workers: 4,
      next: () => {
        const body = { session_id: randomUUID(), agent_id: randomUUID(), capabilities: ['wait'], parameters: {} };
        return { method: 'POST', url: `${agent.url}/negotiate`, body };
      },
    });
    await sleep(300);
    const since = performance.now();
    const end = stopped(agent);
    await watch.waitFor(({ type }) => type === 'deregistered');
    expect(performance.now() - since).toBeLessThan(1_000);
    await untilNotReady(agent.url);
    const { answers, broken } = await load.stop();
    for (const { answer } of work) expect((await answer).status).toBe(200);
    expect(broken).toEqual([]);
    // Whoever comes while it leaves is told so.
    expect([...answers.keys()].filter((status) => ![200, 503].includes(status))).toEqual([]);
    expect(answers.get(200)).toBeGreaterThan(0);
    const { code, ms } = await end;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(2_000 + DRAIN_MS + SLACK_MS);
    expect(phasesOf(agent)).toEqual([
      'not ready, deregistered',
      'partners notice',
      'requests in flight',
      'agreements',
      'store',
    ]);
    expect(watch.changes.filter(({ agentId }) => agentId === 'agent_W').map(({ type }) => type)).toEqual([
      'deregistered',
    ]);
  });

  it('finishes what it has delegated', async () => {
    const [agentA] = await Promise.all([startAgentA({ registryUrl: registry.url }), startWaiting()]);
    const watch = await watchEvents(registry.url);
    const delegated = post(`${agentA.url}/delegate`, { capability: 'wait', input: { ms: 1_500 } });
    await watch.waitFor(({ type }) => type === 'agreed');
    const end = stopped(agentA);
    const { status, body } = await delegated;
    expect(status).toBe(200);
    expect(body.output).toEqual({ waited_ms: 1_500 });
    expect((await end).code).toBe(0);
  });

  it('is stopped while it waits for a registry that is not there', async () => {
    const agent = await startAgentB({ registryUrl: 'http://127.0.0.1:9', ready: false });
    const { code, ms } = await stopped(agent);
    expect(code).toBe(0);
    expect(ms).toBeLessThan(SLACK_MS + 1_000);
  });

  it('exits at once at the second signal', async () => {
    const agent = await startWaiting();
    const { answer } = await wait(agent, 20_000);
    const cut = expect(answer).rejects.toThrow();
    await sleep(200);
    agent.kill('SIGINT');
    await agent.waitForLine(/received SIGINT/u);
    const since = performance.now();
    agent.kill('SIGTERM');
    expect(await agent.exited).toEqual({ code: 1, signal: null });
    expect(performance.now() - since).toBeLessThan(3_000);
    await cut;
  });
});
