import { AppError, type LogFields, type Logger } from '@parley/service-kit';
import { eventually, onTestsEnd, waitFor } from '@parley/testkit';
import { z } from 'zod';
import { FakeRegistry } from '../../test-support/fake-registry.js';
import type { JsonServer } from '../../test-support/json-server.js';
import { serveAgent } from '../../test-support/serve-agent.js';
import { NegotiationFailed } from '../initiator/index.js';
import type { Skill } from '../skill.js';
import { Agent } from './agent.js';
import type { AgentEvents, AgentOptions, AnySkill } from './agent-options.js';

const review: Skill<{ text: string }> = {
  capability: 'code_review',
  detail: {
    version: '1.2.0',
    parameters: {
      depth: { type: 'integer', minimum: 1, maximum: 3, default: 1 },
      style: { type: 'string', enum: ['short', 'long'], default: 'short' },
    },
  },
  input: z.strictObject({ text: z.string() }),
  run: ({ text }, { parameters }) => Promise.resolve({ length: text.length, depth: parameters['depth'] }),
};

class Steps implements Logger {
  readonly lines: string[] = [];
  readonly fields: LogFields[] = [];
  #keep(message: string, fields: LogFields = {}): void {
    this.fields.push({ message, ...fields });
  }
  debug(message: string, fields?: LogFields): void {
    this.#keep(message, fields);
  }
  info(message: string, fields?: LogFields): void {
    this.#keep(message, fields);
  }
  warn(message: string, fields?: LogFields): void {
    this.#keep(message, fields);
  }
  error(message: string, fields?: LogFields): void {
    this.#keep(message, fields);
  }
  step(_: string, message: string, fields?: LogFields): void {
    this.lines.push(message);
    this.#keep(message, fields);
  }
  child(): Logger {
    return this;
  }
}

const running: Agent[] = [];
onTestsEnd(async () => {
  await Promise.all(running.map((agent) => agent.stop()));
});

interface Served {
  readonly agent: Agent;
  readonly server: JsonServer;
  readonly steps: Steps;
}

async function start(
  agentId: string,
  skills: readonly AnySkill[],
  options: Partial<AgentOptions> = {},
): Promise<Served> {
  const box: { agent?: Agent } = {};
  const server = await serveAgent(() => {
    if (box.agent === undefined) throw new AppError('unavailable', 'not yet');
    return box.agent;
  });
  const steps = new Steps();
  box.agent = new Agent({
    manifest: { agentId, endpoint: server.url },
    skills,
    logger: steps,
    ...options,
    settings: { drainMs: 100, ...options.settings },
  });
  running.push(box.agent);
  return { agent: box.agent, server, steps };
}

function translate(): Skill<{ text: string }> {
  return {
    capability: 'translate',
    detail: {},
    input: z.strictObject({ text: z.string() }),
    run: ({ text }) => Promise.resolve({ text: `(${text})` }),
  };
}

describe('two agents', () => {
  it('register, find each other, agree, work and part, each step in the log', async () => {
    const registry = await new FakeRegistry().start();
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [review]);
    await Promise.all([a.agent.register(registry.url), b.agent.register(registry.url)]);
    const found = await a.agent.discover(registry.url, ['code_review']);
    expect(found.map(({ agent_id }) => agent_id)).toEqual(['agent_B']);
    expect(await a.agent.discover(registry.url, ['fly'])).toEqual([]);

    const result = await a.agent.negotiate(
      found[0]?.endpoint ?? '',
      ['code_review@^1.0.0'],
      { depth: 2 },
      { agentId: 'agent_B' },
    );
    if (!result.accepted) throw new Error(result.reason.detail);
    expect(result.parameters).toEqual({ depth: 2, style: 'short' });
    const { agreement } = result;
    expect(agreement).toMatchObject({ agentId: 'agent_B', state: 'active' });
    expect((await b.agent.keeper.list()).agreements[0]).toMatchObject({
      state: 'active',
      terms_digest: agreement.termsDigest,
    });

    const answer = await a.agent.invoke(agreement, 'code_review', { text: 'let x' });
    expect(answer).toMatchObject({ output: { length: 5, depth: 2 }, applied: { depth: 2, style: 'short' } });

    expect(await agreement.end()).toBe('completed');
    expect((await b.agent.keeper.list()).agreements[0]).toMatchObject({ state: 'ended', end_reason: 'completed' });
    await expect(a.agent.invoke(agreement, 'code_review', { text: '' })).rejects.toMatchObject({
      code: 'agreement_ended',
    });

    expect(a.steps.lines).toEqual([
      `Discover for ['code_review'] -> found agent_B (${b.server.url})`,
      `Discover for ['fly'] -> found none`,
      `Sent negotiation to agent_B (session_id: ${result.sessionId})`,
      'Handshake completed with agent_B',
    ]);
    expect(b.steps.lines[0]).toBe('Received negotiation, checking capabilities: code_review@^1.0.0 -> accepted');
    await eventually(() => {
      expect(registry.reports.at(-1)).toMatchObject({ agreement_id: agreement.agreementId, state: 'ended' });
    });
  });

  it('finish when they negotiate with each other both ways at the same time', async () => {
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [review]);
    const results = await Promise.all([
      ...Array.from({ length: 4 }, () => a.agent.negotiate(b.server.url, ['code_review'])),
      ...Array.from({ length: 4 }, () => b.agent.negotiate(a.server.url, ['translate'])),
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(8).fill('accepted'));
    expect(a.agent.agreements.size).toBe(4);
    expect(await a.agent.keeper.countLiving()).toBe(4);
  });
});

describe('an agent that looks for a partner', () => {
  it('passes over one that is silent and one that refuses, and remembers why', async () => {
    const registry = await new FakeRegistry().start();
    const settings = { candidateTimeoutMs: 200, hedgeMs: 10_000 };
    // Always the first of those that are left.
    const a = await start('agent_A', [], {
      settings,
      random: () => 0.999,
      manifest: { agentId: 'agent_A', endpoint: 'http://a', capabilities: ['x'] },
    });
    const good = await start('good', [review]);
    const full = await start('full', [review], { keeper: { policy: () => ({ allow: false, code: 'policy' }) } });
    const silent = await start('silent', [review]);
    for (const { agent } of [silent, full, good]) await agent.register(registry.url);
    silent.server.server.removeAllListeners('request');
    silent.server.server.on('request', () => undefined);

    const result = await a.agent.negotiateFirst(registry.url, ['code_review']);
    expect(result.agreement.agentId).toBe('good');
    expect(result.attempts.map(({ agent_id, outcome, reason }) => [agent_id, outcome, reason])).toEqual([
      ['silent', 'timeout', 'peer_timeout'],
      ['full', 'declined', 'policy'],
      ['good', 'accepted', undefined],
    ]);
    expect(a.steps.lines).toContain('Negotiation with silent timed out, trying the next candidate');
    expect(a.steps.lines).toContain('Negotiation with full was declined (policy), trying the next candidate');

    const again = await a.agent
      .negotiateFirst(registry.url, ['code_review'], {}, { exclude: ['good'] })
      .catch((error: unknown) => error);
    expect(again).toBeInstanceOf(NegotiationFailed);
    expect((again as NegotiationFailed).code).toBe('negotiation_failed');
    // The silent one sank to the end.
    expect((again as NegotiationFailed).attempts.map(({ agent_id }) => agent_id)).toEqual(['full', 'silent']);
  });

  it('fails with an empty list when nobody offers the capability', async () => {
    const registry = await new FakeRegistry().start();
    const a = await start('agent_A', [translate()]);
    const failure = await a.agent.negotiateFirst(registry.url, ['fly']).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'negotiation_failed', attempts: [] });
    expect(a.steps.lines.at(-1)).toBe('Negotiation failed: No agent offers what was asked for.');
  });
});

describe('a call under an agreement', () => {
  it('runs once for a call id that is repeated, and refuses another piece of work under that id', async () => {
    let runs = 0;
    const gate = Promise.withResolvers<undefined>();
    const slow: Skill<{ text: string }> = {
      ...review,
      run: async ({ text }) => {
        runs += 1;
        await gate.promise;
        return { text, run: runs };
      },
    };
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [slow]);
    const result = await a.agent.negotiate(b.server.url, ['code_review'], {}, { limits: { max_calls: 1 } });
    if (!result.accepted) throw new Error(result.reason.detail);
    const call = (text: string) => a.agent.invoke(result.agreement, 'code_review', { text }, { callId: 'one' });
    const first = [call('x'), call('x')];
    await waitFor(() => runs === 1);
    await expect(call('y')).rejects.toMatchObject({ code: 'call_id_conflict' });
    gate.resolve(undefined);
    const answers = await Promise.all(first);
    expect(answers.map(({ output }) => output)).toEqual([
      { text: 'x', run: 1 },
      { text: 'x', run: 1 },
    ]);
    expect(runs).toBe(1);
    expect(answers[0]?.remaining).toEqual({ calls: 0 });
  });

  it('checks the input, and answers a broken skill with a fixed sentence', async () => {
    const broken: Skill<{ text: string }> = { ...translate(), run: () => Promise.reject(new Error('/secret/path')) };
    const a = await start('agent_A', [review]);
    const b = await start('agent_B', [broken]);
    const result = await a.agent.negotiate(b.server.url, ['translate']);
    if (!result.accepted) throw new Error(result.reason.detail);
    await expect(a.agent.invoke(result.agreement, 'translate', { txt: 'x' })).rejects.toMatchObject({
      reason: 'invalid_request',
      errors: [{ path: 'text' }, { path: 'txt' }],
    });
    const failure = await a.agent.invoke(result.agreement, 'translate', { text: 'x' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ reason: 'internal' });
    expect(String(failure)).not.toContain('secret');
  });

  it('is refused while as many as possible run', async () => {
    const gate = Promise.withResolvers<undefined>();
    const slow: Skill<{ text: string }> = { ...translate(), run: () => gate.promise.then(() => ({})) };
    const a = await start('agent_A', [review]);
    const b = await start('agent_B', [slow], { settings: { maxConcurrentCalls: 1 } });
    const result = await a.agent.negotiate(b.server.url, ['translate']);
    if (!result.accepted) throw new Error(result.reason.detail);
    const first = a.agent.invoke(result.agreement, 'translate', { text: '1' });
    await waitFor(() => b.server.requests.some(({ path }) => path === '/invoke'));
    await expect(a.agent.invoke(result.agreement, 'translate', { text: '2' })).rejects.toMatchObject({
      code: 'busy',
      retryAfterSeconds: 1,
    });
    gate.resolve(undefined);
    await first;
  });
});

describe('the registrations of partners', () => {
  it('suspend agreements on both sides when they lapse, and resume them when the partner is back', async () => {
    const registry = await new FakeRegistry().start();
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [review]);
    await Promise.all([a.agent.register(registry.url), b.agent.register(registry.url)]);
    const events: AgentEvents['agreement'][] = [];
    b.agent.on('agreement', (event) => events.push(event));
    const result = await a.agent.negotiate(b.server.url, ['code_review']);
    if (!result.accepted) throw new Error(result.reason.detail);
    const id = result.agreement.agreementId;
    await waitFor(() => registry.watchers.size === 2);

    registry.expire('agent_B');
    await waitFor(() => result.agreement.state === 'suspended');
    registry.expire('agent_A');
    await waitFor(async () => (await b.agent.keeper.get(id, { internal: true })).state === 'suspended');

    await b.agent.register(registry.url);
    const again = { method: 'POST', body: JSON.stringify(b.agent.manifest) };
    await fetch(`${registry.url}/register`, again);
    await waitFor(() => result.agreement.state === 'active');
    await fetch(`${registry.url}/register`, { method: 'POST', body: JSON.stringify(a.agent.manifest) });
    await waitFor(async () => (await b.agent.keeper.get(id, { internal: true })).state === 'active');
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'confirmed', 'suspended', 'resumed']);
  });

  it('end agreements at once when the partner deregisters, and the watch with them', async () => {
    const registry = await new FakeRegistry().start();
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [review]);
    await Promise.all([a.agent.register(registry.url), b.agent.register(registry.url)]);
    const result = await a.agent.negotiate(b.server.url, ['code_review']);
    if (!result.accepted) throw new Error(result.reason.detail);
    await waitFor(() => registry.watchers.size === 2);
    const entry = registry.agents.get('agent_B');
    await fetch(`${registry.url}/agents/agent_B`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${entry?.token ?? ''}` },
    });
    await waitFor(() => result.agreement.endReason === 'party_deregistered');
    await waitFor(() => registry.watchers.size === 0);
  });

  it('do not concern a partner that was never registered, nor one that a restarted registry forgot for a moment', async () => {
    const registry = await new FakeRegistry().start();
    const b = await start('agent_B', [review], { settings: { absenceGraceMs: 60_000 } });
    await b.agent.register(registry.url);
    const plain = await start('plain', [translate()]);
    const a = await start('agent_A', [translate()]);
    await a.agent.register(registry.url);
    const one = await plain.agent.negotiate(b.server.url, ['code_review']);
    const two = await a.agent.negotiate(b.server.url, ['code_review']);
    expect([one.accepted, two.accepted]).toEqual([true, true]);
    await waitFor(() => registry.watchers.size === 2);
    registry.forgetAll();
    registry.cutWatches();
    await waitFor(() => registry.watchers.size === 2);
    await eventually(() => {
      expect(registry.count('GET', '/watch')).toBeGreaterThanOrEqual(4);
    });
    const states = (await b.agent.keeper.list()).agreements.map(({ state }) => state);
    expect(states).toEqual(['active', 'active']);
  });
});

it('an agent that registers again tells the registry of the agreements that live', async () => {
  const registry = await new FakeRegistry().start();
  registry.ttlSeconds = 1;
  const a = await start('agent_A', [translate()]);
  const b = await start('agent_B', [review]);
  await b.agent.register(registry.url);
  const result = await a.agent.negotiate(b.server.url, ['code_review']);
  if (!result.accepted) throw new Error(result.reason.detail);
  await waitFor(() => registry.reports.length > 0);
  registry.forgetAll();
  registry.reports.length = 0;
  await waitFor(() => registry.reports.some(({ agreement_id }) => agreement_id === result.agreement.agreementId));
});

describe('stopping', () => {
  it('ends agreements, reports them, deregisters and refuses what comes later', async () => {
    const registry = await new FakeRegistry().start();
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [review]);
    await Promise.all([a.agent.register(registry.url), b.agent.register(registry.url)]);
    const result = await a.agent.negotiate(b.server.url, ['code_review']);
    if (!result.accepted) throw new Error(result.reason.detail);
    await b.agent.stop();
    // The responder told the initiator, with its own secret.
    await waitFor(() => result.agreement.endReason === 'shutdown');
    expect(registry.agents.has('agent_B')).toBe(false);
    expect(registry.reports.at(-1)).toMatchObject({ state: 'ended', end_reason: 'shutdown' });
    await expect(b.agent.discover(registry.url, ['x'])).rejects.toMatchObject({ code: 'shutting_down' });
    await b.agent.stop();
  });

  it('is bounded when the registry and the partners are away', async () => {
    const registry = await new FakeRegistry().start();
    const a = await start('agent_A', [translate()]);
    const b = await start('agent_B', [review]);
    await Promise.all([a.agent.register(registry.url), b.agent.register(registry.url)]);
    expect((await a.agent.negotiate(b.server.url, ['code_review'])).accepted).toBe(true);
    registry.intercept = ({ response }) => {
      response.socket?.pause();
      return undefined;
    };
    await registry.stop();
    await b.server.stop();
    const before = performance.now();
    await a.agent.stop();
    expect(performance.now() - before).toBeLessThan(4_500);
  });
});

it('keeps every secret out of the log and out of what can be printed', async () => {
  const registry = await new FakeRegistry().start();
  const ownerToken = 'owner-token-of-the-test-0001';
  const a = await start('agent_A', [translate()], { ownerToken });
  const b = await start('agent_B', [review]);
  await Promise.all([a.agent.register(registry.url), b.agent.register(registry.url)]);
  const result = await a.agent.negotiate(b.server.url, ['code_review']);
  if (!result.accepted) throw new Error(result.reason.detail);
  await a.agent.invoke(result.agreement, 'code_review', { text: 'x' });
  const proof = b.server.requests
    .map(({ headers }) => headers['parley-agreement-proof'])
    .find((value) => value !== undefined);
  expect(typeof proof).toBe('string');
  await result.agreement.end();
  const text = JSON.stringify([
    a.steps.fields,
    b.steps.fields,
    result,
    a.agent,
    registry.reports,
    b.server.requests.map(({ body }) => body),
  ]);
  expect(text).not.toContain(String(proof));
  expect(text).not.toContain(ownerToken);
});
