import { randomUUID } from 'node:crypto';
import { startSilentListener, watchEvents } from '@parley/testkit';
import { deregister, discover, get, post, propose, register, call, tokenOf } from './support/http.js';
import { START_MS, startAgentA, startAgentB, startRegistry, type Service } from './support/services.js';

describe('registry, agent A and agent B as processes', () => {
  let registry: Service;
  let agentA: Service;
  let agentB: Service;

  beforeAll(async () => {
    registry = await startRegistry();
    [agentA, agentB] = await Promise.all([
      startAgentA({ registryUrl: registry.url }),
      startAgentB({ registryUrl: registry.url }),
    ]);
  }, 2 * START_MS);

  const delegate = (body: object) => post(`${agentA.url}/delegate`, body);
  const allAlive = async () => {
    for (const { url } of [registry, agentA, agentB]) expect((await get(`${url}/readyz`)).status).toBe(200);
  };

  it('find who is registered, and nobody for what nobody can do', async () => {
    const fields = { agent_id: 'agent_P', capabilities: ['paint', 'draw'], endpoint: 'http://127.0.0.1:9/p' };
    const registered = await register(registry.url, fields);
    expect(registered.status).toBe(201);
    expect(registered.body).toMatchObject({ agent_id: 'agent_P', lease: { ttl_seconds: 30, renew_every_seconds: 10 } });

    const found = await get(`${registry.url}/discover?capabilities=draw,paint`);
    expect(found.status).toBe(200);
    expect(found.body.agents).toMatchObject([fields]);
    expect(await discover(registry.url, 'draw', 'code_review')).toEqual([]);
    expect(await discover(registry.url, 'sing')).toEqual([]);

    const blank = await get(`${registry.url}/discover?capabilities=`);
    expect(blank.status).toBe(400);
    expect(blank.headers.get('content-type')).toContain('application/problem+json');
    expect((await deregister(registry.url, 'agent_P')).status).toBe(204);
    expect(await discover(registry.url, 'draw')).toEqual([]);
  });

  it('forget who stops renewing, within the lease and a second', async () => {
    const watch = await watchEvents(registry.url);
    const registered = await register(registry.url, {
      agent_id: 'agent_F',
      capabilities: ['fleeting'],
      ttl_seconds: 2,
    });
    expect(await discover(registry.url, 'fleeting')).toEqual(['agent_F']);
    const expired = await watch.waitFor(({ type, agentId }) => type === 'expired' && agentId === 'agent_F');

    expect(await discover(registry.url, 'fleeting')).toEqual([]);
    expect((await get(`${registry.url}/agents/agent_F`)).status).toBe(404);
    const promisedUntil = Date.parse(registered.body.lease.expires_at);
    const late = Date.parse(String(expired.data['at'])) - promisedUntil;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(1_500);
    // A bare renewal does not bring it back.
    const renewal = await call('PUT', `${registry.url}/agents/agent_F/lease`, { token: tokenOf('agent_F') });
    expect([renewal.status, renewal.body.code]).toEqual([404, 'lease_unknown']);
    expect(watch.changes.filter(({ type, agentId }) => type === 'expired' && agentId === 'agent_F')).toHaveLength(1);
    watch.stop();
  });

  it('agree: A finds B by code_review, and the handshake gives the agreed parameters', async () => {
    const { body: found } = await get(`${registry.url}/discover?capabilities=code_review`);
    expect(found.agents).toMatchObject([{ agent_id: 'agent_B', endpoint: agentB.url }]);

    const answer = await propose(found.agents[0].endpoint, {
      agent_id: 'agent_A',
      capabilities: ['code_review'],
      parameters: { severity: 'warning' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      accepted: true,
      outcome: 'accepted',
      parameters: { severity: 'warning', max_findings: 50, language: 'auto' },
      agreement: { state: 'active', terms: { initiator: 'agent_A', responder: 'agent_B' } },
    });
    await agentB.waitForLine(/Received negotiation, checking capabilities: code_review -> accepted/u);
  });

  it('refuse what cannot be agreed, say why, and go on', async () => {
    const missing = await propose(agentB.url, { agent_id: 'agent_A', capabilities: ['code_review', 'fly', 'swim'] });
    expect(missing.status).toBe(200);
    expect(missing.body).toMatchObject({
      accepted: false,
      outcome: 'declined',
      reason: { code: 'capability_missing' },
    });
    expect(missing.body.reason.items.map(({ name }: { name: string }) => name)).toEqual(['fly', 'swim']);
    await agentB.waitForLine(/checking capabilities: code_review, fly, swim -> declined: capability_missing$/u);

    const old = await propose(agentB.url, { agent_id: 'agent_A', capabilities: ['code_review@^99'] });
    expect(old.body).toMatchObject({ accepted: false, reason: { code: 'version_unsatisfied' } });

    const malformed = await post(`${agentB.url}/negotiate`, { session_id: 's', agent_id: 'agent_A', capabilitys: [] });
    expect([malformed.status, malformed.body.code]).toEqual([400, 'invalid_request']);
    expect(malformed.body.errors).toContainEqual(expect.objectContaining({ path: 'capabilitys' }));
    await allAlive();
  });

  it('delegate: B works for A under an agreement that the registry witnesses', async () => {
    const watch = await watchEvents(registry.url);
    const { status, body } = await delegate({
      capability: 'code_review',
      input: { source: 'var a = 1\nif (a == "1") { eval(a) }\n', filename: 'sample.js' },
      parameters: { severity: 'info', max_findings: 10 },
    });
    expect(status).toBe(200);
    expect(body.partner).toEqual({ agent_id: 'agent_B', endpoint: agentB.url });
    expect(body.applied).toEqual({ severity: 'info', max_findings: 10, language: 'auto' });
    expect(body.output.findings.map(({ rule }: { rule: string }) => rule)).toContain('no-eval');
    expect(body.attempts).toMatchObject([{ agent_id: 'agent_B', outcome: 'accepted' }]);

    const id = body.agreement.agreement_id as string;
    const about = (type: string) => (event: { type: string; data: Readonly<Record<string, unknown>> }) =>
      event.type === type && (event.data['agreement'] as { agreement_id?: string } | undefined)?.agreement_id === id;
    const agreed = await watch.waitFor(about('agreed'));
    const ended = await watch.waitFor(about('ended'));
    expect(ended.revision).toBeGreaterThan(agreed.revision);
    expect(ended.data['agreement']).toMatchObject({
      state: 'ended',
      end_reason: expect.stringMatching(/^completed$|^limit_exhausted$/u),
    });
    expect((await get(`${registry.url}/agreements/${id}`)).body).toMatchObject({ state: 'ended' });
    watch.stop();
  });

  it('delegate: a refusal is a typed failure that names the reason, and is logged', async () => {
    const refused = await delegate({
      capability: 'code_review',
      input: { source: 'let x = 1' },
      parameters: { tone_of_voice: 'kind' },
      required_parameters: ['tone_of_voice'],
    });
    expect([refused.status, refused.body.code]).toEqual([422, 'negotiation_failed']);
    expect(refused.body.detail).toContain('agent_B declined (parameter_unsupported)');
    const nobody = await delegate({ capability: 'sing' });
    expect(nobody.body.code).toBe('negotiation_failed');
    await agentA.waitForLine(/Negotiation with agent_B was declined \(parameter_unsupported\)$/u);
    await allAlive();
  });

  it('delegate: whoever never answers is a time-out and not waited for', async () => {
    const silent = await startSilentListener();
    await register(registry.url, { agent_id: 'agent_S', endpoint: silent.url, capabilities: ['listen'] });
    const answer = await delegate({ capability: 'listen', candidate_timeout_ms: 300 });
    expect(answer.body.code).toBe('negotiation_failed');
    expect(answer.body.detail).toContain('agent_S timeout');
    expect(answer.ms).toBeLessThan(3_000);
    await agentA.waitForLine(/Negotiation with agent_S timed out$/u);
    await deregister(registry.url, 'agent_S');
    await allAlive();
  });

  it('invoke: whoever shows the proof works under the agreement, without a line of client code', async () => {
    const request = {
      session_id: randomUUID(),
      agent_id: 'curl',
      capabilities: ['code_review'],
      parameters: { max_findings: 1 },
    };
    const agreed = await post(`${agentB.url}/negotiate`, request);
    const { agreement, agreement_proof: proof } = agreed.body;
    expect(agreement).toMatchObject({ state: 'active' });
    expect(proof).toMatch(/^[\w-]{43}$/u);

    const work = (headers: { proof?: string }, changed: object = {}) =>
      post(
        `${agentB.url}/invoke`,
        {
          agreement_id: agreement.agreement_id,
          terms_digest: agreement.terms_digest,
          capability: 'code_review',
          call_id: randomUUID(),
          input: { source: 'eval("1"); eval("2")', filename: 'a.js' },
          ...changed,
        },
        headers,
      );
    expect((await work({})).status).toBe(404);
    expect((await work({ proof: 'somebody else' })).body.code).toBe('agreement_unknown');
    expect((await work({ proof }, { terms_digest: `sha256:${'A'.repeat(43)}` })).body.code).toBe(
      'agreement_terms_mismatch',
    );
    expect((await work({ proof }, { parameters: { max_findings: 2 } })).body.code).toBe('agreement_scope');
    const done = await work({ proof });
    expect(done.status).toBe(200);
    expect(done.body.applied).toEqual({ severity: 'info', max_findings: 1, language: 'auto' });
    expect(done.body.output.findings).toHaveLength(1);

    // Shown once: neither the agreement nor the witness ever tells it again.
    const address = `${agentB.url}/agreements/${String(agreement.agreement_id)}`;
    expect(JSON.stringify((await get(address, { proof })).body)).not.toContain(proof);
    const other = await post(`${agentB.url}/negotiate`, { ...request, parameters: {} });
    expect([other.status, other.body.code]).toEqual([409, 'session_conflict']);
    const ended = await call('DELETE', `${address}?reason=completed`, { proof });
    expect(ended.body).toMatchObject({ state: 'ended', end_reason: 'completed' });
    const tooLate = await work({ proof });
    expect([tooLate.status, tooLate.body.code]).toEqual([410, 'agreement_ended']);
    for (const service of [registry, agentA, agentB]) expect(service.output()).not.toContain(proof);
  });

  it('negotiate through the registry', async () => {
    const { status, body } = await propose(registry.url, { agent_id: 'curl', capabilities: ['code_review'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: true, responder: { agent_id: 'agent_B', endpoint: agentB.url } });
    expect(body.attempts).toMatchObject([{ agent_id: 'agent_B', outcome: 'accepted' }]);
    const nobody = await propose(registry.url, { agent_id: 'curl', capabilities: ['sing'] });
    expect(nobody.body).toMatchObject({ accepted: false, reason: { code: 'no_candidates' } });
  });

  it('leave the trace log behind', async () => {
    const time = String.raw`\d\d:\d\d:\d\d\.\d{3}`;
    const line = (service: string, text: string) => new RegExp(String.raw`^\[${service}\] ${time} ${text}$`, 'u');
    await registry.waitForLine(line('REGISTRY', String.raw`Register agent_A \['translate', 'summarize'\] -> OK`));
    await registry.waitForLine(line('REGISTRY', String.raw`Register agent_B \['translate', 'code_review'\] -> OK`));
    const found = String.raw`Discover for \['code_review'\] -> found agent_B \(${agentB.url}\)`;
    await agentA.waitForLine(line('AGENT_A', found));
    const sent = await agentA.waitForLine(
      line('AGENT_A', String.raw`Sent negotiation to agent_B \(session_id: (\S+)\)`),
    );
    expect(sent[1]).toMatch(/^[\w-]{16,}$/u);
    await agentB.waitForLine(line('AGENT_B', 'Received negotiation, checking capabilities: code_review -> accepted'));
    await agentB.waitForLine(line('AGENT_B', 'Sent negotiation response: accepted'));
    await agentA.waitForLine(line('AGENT_A', 'Handshake completed with agent_B'));
  });
});
