import { onTestsEnd, startSilentListener, waitFor } from '@parley/testkit';
import { FakeRegistry } from '../../test-support/fake-registry.js';
import { problem, TAKEN, type JsonAnswer, type JsonServer } from '../../test-support/json-server.js';
import { serveAgent } from '../../test-support/serve-agent.js';
import { NegotiationFailed } from '../initiator/index.js';
import { Agent } from './agent.js';

type Body = Record<string, unknown>;
const agents: Agent[] = [];
onTestsEnd(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
});

function agent(agentId: string, endpoint: string): Agent {
  const made = new Agent({
    manifest: {
      agentId,
      endpoint,
      capabilities: { x: { parameters: { depth: { type: 'integer', minimum: 1, maximum: 3, default: 1 } } } },
    },
    settings: { drainMs: 50 },
  });
  agents.push(made);
  return made;
}

/** A registry that passes a proposal on to one responder, whatever the answer. */
async function start(): Promise<{ a: Agent; b: Agent; server: JsonServer; registry: FakeRegistry }> {
  const box: { agent?: Agent } = {};
  const server = await serveAgent(() => box.agent ?? agent('unused', 'http://unused'));
  const b = agent('agent_B', server.url);
  box.agent = b;
  const registry = await new FakeRegistry().start();
  return { a: agent('agent_A', 'http://a:1'), b, server, registry };
}

async function passOn(server: JsonServer, body: Body): Promise<JsonAnswer> {
  const {
    target_agent_id: _,
    max_candidates: __,
    candidate_timeout_ms: ___,
    labels: ____,
    exclude: _____,
    strategy: ______,
    ...proposal
  } = body;
  const answer = await fetch(`${server.url}/negotiate`, {
    method: 'POST',
    body: JSON.stringify({ ...proposal, via: 'registry' }),
  });
  const responder = { agent_id: 'agent_B', endpoint: server.url };
  const attempts = [
    { agent_id: 'agent_C', outcome: 'timeout', duration_ms: 5 },
    { agent_id: 'agent_B', outcome: 'accepted', duration_ms: 5 },
  ];
  return { status: 200, body: { ...((await answer.json()) as object), responder, attempts } };
}

function brokering(registry: FakeRegistry, answer: (body: Body) => Promise<JsonAnswer> | JsonAnswer): void {
  registry.intercept = ({ path, body, response }) => {
    if (path !== '/negotiate') return undefined;
    void Promise.resolve(answer(body as Body)).then(({ status, body: json }) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
    return TAKEN;
  };
}

describe('a negotiation through the registry', () => {
  it('is confirmed, renewed and ended at the responder directly', async () => {
    const { a, b, server, registry } = await start();
    brokering(registry, (body) => passOn(server, body));
    const result = await a.negotiateThrough(registry.url, ['x'], { depth: 2 }, { exclude: ['agent_D'] });
    expect(result.agreement).toMatchObject({ agentId: 'agent_B', endpoint: server.url, state: 'active' });
    expect(result.attempts.map(({ agent_id }) => agent_id)).toEqual(['agent_C', 'agent_B']);
    expect((await b.keeper.list()).agreements[0]).toMatchObject({ state: 'active', via: 'registry' });
    expect(registry.requests[0]?.body).toMatchObject({ agent_id: 'agent_A', exclude: ['agent_D'] });
    await result.agreement.renew();
    expect(await result.agreement.end()).toBe('completed');
    expect((await b.keeper.list()).agreements[0]).toMatchObject({ state: 'ended', end_reason: 'completed' });
  });

  it('takes a counter-offer that is welcome at the responder, and declines another', async () => {
    const { a, b, server, registry } = await start();
    brokering(registry, (body) => passOn(server, body));
    const result = await a.negotiateThrough(
      registry.url,
      ['x'],
      { depth: 9 },
      { acceptable: { depth: { minimum: 1 } } },
    );
    expect(result.parameters).toEqual({ depth: 3 });
    await result.agreement.end();
    const failure = await a.negotiateThrough(registry.url, ['x'], { depth: 9 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NegotiationFailed);
    expect((failure as NegotiationFailed).attempts.at(-1)).toMatchObject({
      agent_id: 'agent_B',
      outcome: 'countered',
      reason: 'counter_not_acceptable',
    });
    await waitFor(async () => (await b.keeper.countLiving()) === 0);
  });

  it('that leads to nobody fails with every attempt the registry made', async () => {
    const { a, registry } = await start();
    const attempts = [{ agent_id: 'agent_C', outcome: 'declined', duration_ms: 1, reason: 'capacity' }];
    brokering(registry, ({ session_id }) => ({
      status: 200,
      body: {
        session_id,
        accepted: false,
        outcome: 'declined',
        reason: { code: 'no_candidates', retryable: false },
        attempts,
      },
    }));
    await expect(a.negotiateThrough(registry.url, ['x'])).rejects.toMatchObject({
      code: 'negotiation_failed',
      reason: 'failed_precondition',
      attempts,
    });
  });

  it('does not believe the registry either: a swapped session or responder is refused and withdrawn', async () => {
    const { a, server, registry, b } = await start();
    brokering(registry, async (body) => {
      const { status, body: answer } = await passOn(server, body);
      return { status, body: { ...(answer as object), responder: { agent_id: 'agent_C', endpoint: server.url } } };
    });
    await expect(a.negotiateThrough(registry.url, ['x'])).rejects.toMatchObject({ code: 'negotiation_failed' });
    await waitFor(async () => (await b.keeper.countLiving()) === 0);
  });

  it('ends in bounded time, and keeps the refusal of a registry', async () => {
    const { a, registry } = await start();
    brokering(registry, () => problem(429, 'too_many_negotiations'));
    await expect(a.negotiateThrough(registry.url, ['x'])).rejects.toMatchObject({ code: 'too_many_negotiations' });
    const silent = await startSilentListener();
    const giveUp = new AbortController();
    const waiting = a.negotiateThrough(silent.url, ['x'], {}, { signal: giveUp.signal });
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'cancelled' });
  });
});
