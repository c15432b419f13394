import { randomUUID } from 'node:crypto';
import { Agent } from '@parley/agent';
import { endEverything, watchEvents, type WatchedEvent, type WatchedEvents } from '@parley/testkit';
import { discover, get, post, propose } from './support/http.js';
import { freePorts, startAgentA, startAgentB, startRegistry, untilReady, type Service } from './support/services.js';

const { jest } = import.meta;
jest.setTimeout(60_000);
const OWNER_TOKEN = 'the-configured-owner-token-of-agent-a';

const about = (type: string, id: string) => (event: WatchedEvent) => event.type === type && event.agentId === id;

/** Has heard of all that happened to this agent up to the registration that this answer is about. */
const heardOf = (watch: WatchedEvents, { revision: upTo }: { revision: number }) =>
  watch.waitFor(({ revision }) => revision >= upTo);

const typesOf = ({ changes }: WatchedEvents, id: string) =>
  changes.filter(({ agentId }) => agentId === id).map(({ type }) => type);
const agreementOf = ({ data }: WatchedEvent) =>
  data['agreement'] as { agreement_id: string; state: string; end_reason?: string } | undefined;

/** What the registry told of one agreement, in order. */
const toldOf = ({ changes }: WatchedEvents, id: string) =>
  changes.filter((event) => agreementOf(event)?.agreement_id === id).map(({ type }) => type);

describe('an agent that dies', () => {
  let registry: Service;
  let watch: WatchedEvents;

  beforeEach(async () => {
    registry = await startRegistry();
    watch = await watchEvents(registry.url);
  });
  afterEach(endEverything, 30_000);

  it('replaces itself at once when it has a configured owner token', async () => {
    const options = { registryUrl: registry.url, ttlSeconds: 600, env: { AGENT_OWNER_TOKEN: OWNER_TOKEN } };
    const first = await startAgentA(options);
    first.kill('SIGKILL');
    await first.exited;
    expect(await discover(registry.url, 'summarize')).toEqual(['agent_A']);
    const second = await startAgentA({ ...options, ready: false });
    await untilReady(second, 2_000);
    const { body } = await get(`${registry.url}/agents/agent_A`);
    expect(body.endpoint).toBe(second.url);
    await heardOf(watch, body);
    expect(typesOf(watch, 'agent_A')).toEqual(['registered', 'updated']);
    expect(second.output()).not.toContain('held by somebody else');
  });

  it('is used again as soon as it is back, and every call meanwhile fails soon and in words', async () => {
    const [httpPort = 0] = await freePorts(1);
    const options = { registryUrl: registry.url, ttlSeconds: 60, httpPort, env: { AGENT_OWNER_TOKEN: OWNER_TOKEN } };
    const first = await startAgentB(options);
    const agentA = await startAgentA({ registryUrl: registry.url });
    const work = { capability: 'code_review', input: { source: 'let a = 1' }, candidate_timeout_ms: 5_000 };
    const delegate = () => post(`${agentA.url}/delegate`, work);
    for (let time = 0; time < 5; time += 1) expect((await delegate()).status).toBe(200);
    first.kill('SIGKILL');
    await first.exited;
    const answers = [await delegate()];
    const starting = new AbortController();
    const second = startAgentB(options).finally(() => {
      starting.abort();
    });
    while (!starting.signal.aborted) answers.push(await delegate());
    await second;
    const failed = answers.filter(({ status }) => status !== 200);
    expect(failed.length).toBeGreaterThan(0);
    for (const { status, body, ms } of failed) {
      expect([status, body.code]).toEqual([503, 'negotiation_failed']);
      expect(body.detail).toContain('agent_B unreachable');
      expect(ms).toBeLessThan(2_000);
    }
    const again = await Promise.all(Array.from({ length: 8 }, delegate));
    expect(again.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('waits for its old lease when it has none, says so, and comes back', async () => {
    const options = { registryUrl: registry.url, ttlSeconds: 3 };
    const first = await startAgentA(options);
    first.kill('SIGKILL');
    await first.exited;
    const second = await startAgentA({ ...options, ready: false });
    await second.waitForLine(/The id agent_A is held by somebody else/u);
    const readiness = await get(`${second.url}/readyz`);
    expect([readiness.status, readiness.body.checks.registry]).toEqual([503, 'not registered']);
    expect((await get(`${second.url}/healthz`)).status).toBe(200);
    await watch.waitFor(about('expired', 'agent_A'));
    await untilReady(second, 10_000);
    const { body } = await get(`${registry.url}/agents/agent_A`);
    expect(body.endpoint).toBe(second.url);
    await heardOf(watch, body);
    expect(typesOf(watch, 'agent_A')).toEqual(['registered', 'expired', 'registered']);
  });

  it('leaves its agreements suspended, then ended as unreachable, and its partner well', async () => {
    const agentB = await startAgentB({ registryUrl: registry.url, env: { AGENT_AGREEMENT_TTL_SECONDS: '5' } });
    const agentA = await startAgentA({ registryUrl: registry.url, ttlSeconds: 2 });
    const { agreement, work, state } = await agreeWith(agentB, 'agent_A');
    expect((await work()).status).toBe(200);
    await watch.waitFor((event) => event.type === 'agreed' && agreementOf(event)?.agreement_id === agreement);

    agentA.kill('SIGKILL');
    await watch.waitFor(about('expired', 'agent_A'));
    await watch.waitFor((event) => event.type === 'suspended' && agreementOf(event)?.agreement_id === agreement);
    expect((await state()).body.state).toBe('suspended');
    const refused = await work();
    expect([refused.status, refused.body.code]).toEqual([503, 'agreement_suspended']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);

    await watch.waitFor((event) => event.type === 'ended' && agreementOf(event)?.agreement_id === agreement, 15_000);
    expect((await state()).body).toMatchObject({ state: 'ended', end_reason: 'party_unreachable' });
    const tooLate = await work();
    expect([tooLate.status, tooLate.body.code]).toEqual([410, 'agreement_ended']);
    expect(tooLate.body.detail).toContain('party_unreachable');
    expect(toldOf(watch, agreement)).toEqual(['agreed', 'suspended', 'ended']);
    await untilReady(agentB, 1_000);
  });

  it('gets its agreements back when it is back in time', async () => {
    const [httpPort = 0] = await freePorts(1);
    const agentB = await startAgentB({ registryUrl: registry.url, env: { AGENT_AGREEMENT_TTL_SECONDS: '30' } });
    const options = { registryUrl: registry.url, ttlSeconds: 1, httpPort };
    const agentA = await startAgentA(options);
    const { agreement, work, state } = await agreeWith(agentB, 'agent_A');
    agentA.kill('SIGKILL');
    await watch.waitFor((event) => event.type === 'suspended' && agreementOf(event)?.agreement_id === agreement);
    await startAgentA(options);
    await watch.waitFor((event) => event.type === 'resumed' && agreementOf(event)?.agreement_id === agreement);
    expect((await state()).body.state).toBe('active');
    expect((await work()).status).toBe(200);
    expect(toldOf(watch, agreement)).toEqual(['agreed', 'suspended', 'resumed']);
  });

  it('is noticed by whoever holds an agreement with it', async () => {
    const agentB = await startAgentB({ registryUrl: registry.url, ttlSeconds: 2 });
    const initiator = new Agent({
      manifest: { agentId: 'agent_I', endpoint: 'http://127.0.0.1:9', capabilities: ['ask'] },
    });
    try {
      await initiator.register(registry.url);
      const { agreement } = await initiator.negotiateFirst(registry.url, ['code_review']);
      await initiator.invoke(agreement, 'code_review', { source: 'let a = 1' });
      agentB.kill('SIGKILL');
      await agentB.exited;
      await expect(initiator.invoke(agreement, 'code_review', { source: 'let a = 1' })).rejects.toMatchObject({
        reason: 'unavailable',
      });
      await watch.waitFor(about('expired', 'agent_B'));
      await expect(initiator.negotiateFirst(registry.url, ['code_review'])).rejects.toMatchObject({
        code: 'negotiation_failed',
      });
    } finally {
      await initiator.stop();
    }
    await watch.waitFor(about('deregistered', 'agent_I'));
    expect(typesOf(watch, 'agent_I')).toEqual(['registered', 'deregistered']);
  });
});

/** An agreement with `agentB` in the name of somebody who is registered, and the proof in our hands. */
async function agreeWith(agentB: Service, initiator: string) {
  const { body } = await propose(agentB.url, { agent_id: initiator, capabilities: ['code_review'] });
  const { agreement, agreement_proof: proof } = body;
  const id = agreement.agreement_id as string;
  // It watches the registrations of those it has agreements with; from here on it has seen this one.
  await agentB.waitForLine(/Sent negotiation response: accepted/u);
  return {
    agreement: id,
    state: () => get(`${agentB.url}/agreements/${id}`, { proof }),
    work: () =>
      post(
        `${agentB.url}/invoke`,
        {
          agreement_id: id,
          terms_digest: agreement.terms_digest,
          capability: 'code_review',
          call_id: randomUUID(),
          input: { source: 'let a = 1' },
        },
        { proof },
      ),
  };
}
