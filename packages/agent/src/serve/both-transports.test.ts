import { createHash } from 'node:crypto';
import { AgentService, NegotiationService } from '@parley/proto';
import { accepted, grpcWire, httpWire, refused, type HttpTarget, type Wire } from '@parley/testkit';
import { z } from 'zod';
import { Agent } from '../agent/index.js';
import type { Skill } from '../skill.js';
import { serveAgent, type ServedAgent } from './serve-agent.js';

const HTTP: Readonly<Record<string, HttpTarget>> = {
  Negotiate: { method: 'POST', path: '/negotiate', rest: 'body' },
  ListAgreements: { method: 'GET', path: '/agreements', rest: 'query' },
  GetAgreement: { method: 'GET', path: '/agreements/{agreement_id}', wrap: 'agreement' },
  ConfirmAgreement: { method: 'PUT', path: '/agreements/{agreement_id}/confirm', rest: 'body', wrap: 'agreement' },
  RenewAgreement: { method: 'PUT', path: '/agreements/{agreement_id}', rest: 'body', wrap: 'agreement' },
  EndAgreement: { method: 'DELETE', path: '/agreements/{agreement_id}', rest: 'query', wrap: 'agreement' },
  Invoke: { method: 'POST', path: '/invoke', rest: 'body' },
  Delegate: { method: 'POST', path: '/delegate', rest: 'body' },
};

const shout: Skill<{ text: string }> = {
  capability: 'shout',
  detail: {
    version: '1.2.0',
    parameters: {
      times: { type: 'integer', minimum: 1, maximum: 3, default: 1 },
      language: { type: 'string', enum: ['en', 'ru'], required: true },
    },
  },
  input: z.strictObject({ text: z.string() }),
  run: ({ text }, { parameters }) => Promise.resolve({ text: text.toUpperCase().repeat(Number(parameters['times'])) }),
};

const agent = new Agent({
  manifest: { agentId: 'responder', endpoint: 'http://127.0.0.1:9' },
  skills: [shout as Skill],
});
let served: ServedAgent;
let counter = 0;

beforeAll(async () => {
  served = await serveAgent(agent, { grpcPort: 0, operatorToken: 'operator-token-of-the-suite' });
});
afterAll(async () => {
  await agent.stop();
  await served.close(1_000);
});

interface AgreementJson {
  readonly agreement_id: string;
  readonly terms_digest: string;
  readonly state: string;
  readonly lease_revision?: number;
  readonly end_reason?: string;
}

function proposal(fields: Record<string, unknown> = {}): Record<string, unknown> {
  counter += 1;
  return {
    session_id: `session-${String(counter)}`,
    agent_id: 'caller',
    capabilities: ['shout'],
    parameters: { language: 'ru' },
    ...fields,
  };
}

const proofHeader = (proof: unknown) => ({ headers: { 'parley-agreement-proof': String(proof) } });

describe.each<[string, () => Wire]>([
  ['HTTP/JSON', () => httpWire(served.httpUrl, HTTP)],
  ['gRPC', () => grpcWire(`127.0.0.1:${String(served.grpcPort)}`, [NegotiationService, AgentService])],
])('an agent over %s', (_name, connect) => {
  let wire: Wire;
  beforeAll(() => {
    wire = connect();
  });
  afterAll(() => {
    wire.close();
  });

  async function agree(fields: Record<string, unknown> = {}): Promise<{ agreement: AgreementJson; proof: unknown }> {
    const body = accepted(await wire.call('Negotiate', proposal(fields)));
    return { agreement: body['agreement'] as AgreementJson, proof: body['agreement_proof'] };
  }

  it('accepts what it offers, complete with defaults, and is active at once without a proof_hash', async () => {
    const body = accepted(await wire.call('Negotiate', proposal()));
    expect(body).toMatchObject({
      accepted: true,
      outcome: 'accepted',
      parameters: { language: 'ru', times: 1 },
      agreement: { state: 'active' },
    });
    expect(body['agreement_proof']).toEqual(expect.any(String));
  });

  it('declines what it does not offer, naming all of it', async () => {
    const body = accepted(await wire.call('Negotiate', proposal({ capabilities: ['shout', 'sing', 'dance'] })));
    expect(body).toMatchObject({ outcome: 'declined', reason: { code: 'capability_missing' } });
    expect(JSON.stringify(body['reason'])).toMatch(/sing.*dance/);
  });

  it('counters a value out of bounds with the nearest one, which is then taken by its digest', async () => {
    const first = proposal({ parameters: { language: 'ru', times: 9 } });
    const countered = accepted(await wire.call('Negotiate', first));
    const offer = countered['offer'] as { offer_id: string; terms_digest: string };
    expect(countered).toMatchObject({ outcome: 'countered', parameters: { language: 'ru', times: 3 } });
    const take = {
      session_id: first['session_id'],
      agent_id: 'caller',
      action: 'accept',
      offer_id: offer.offer_id,
      terms_digest: offer.terms_digest,
    };
    const taken = accepted(await wire.call('Negotiate', take));
    expect(taken).toMatchObject({ outcome: 'accepted', agreement: { terms_digest: offer.terms_digest } });
    const wrong = { ...take, terms_digest: `sha256:${'A'.repeat(43)}` };
    expect(refused(await wire.call('Negotiate', wrong))).toMatchObject({ status: 409, code: 'offer_mismatch' });
  });

  it('answers the same request the same, and another one under the same session with a conflict', async () => {
    const request = proposal({ proof_hash: createHash('sha256').update('secret').digest('base64url') });
    const first = accepted(await wire.call('Negotiate', request));
    const again = accepted(await wire.call('Negotiate', request));
    // The time left to confirm goes on.
    const { agreement_id, terms_digest, created_at, expires_at } = first['agreement'] as Record<string, unknown>;
    expect(again['agreement']).toMatchObject({ agreement_id, terms_digest, created_at, expires_at, state: 'pending' });
    expect(refused(await wire.call('Negotiate', { ...request, parameters: { language: 'en' } }))).toMatchObject({
      status: 409,
      code: 'session_conflict',
    });
  });

  it('keeps an agreement with a proof_hash pending until its party confirms', async () => {
    const secret = 'a-secret-of-the-initiator-of-this-agreement';
    const { agreement } = await agree({ proof_hash: createHash('sha256').update(secret).digest('base64url') });
    expect(agreement.state).toBe('pending');
    const confirm = { agreement_id: agreement.agreement_id, terms_digest: agreement.terms_digest };
    expect(refused(await wire.call('ConfirmAgreement', confirm, proofHeader('something else')))).toMatchObject({
      status: 404,
      code: 'agreement_unknown',
    });
    expect(accepted(await wire.call('ConfirmAgreement', confirm, proofHeader(secret)))['agreement']).toMatchObject({
      state: 'active',
    });
  });

  it('lets its party renew, read and end it, and nobody else', async () => {
    const { agreement, proof } = await agree();
    const key = { agreement_id: agreement.agreement_id };
    const renewal = {
      ...key,
      terms_digest: agreement.terms_digest,
      lease_revision: agreement.lease_revision ?? 0,
      state: 'active',
    };
    expect(accepted(await wire.call('RenewAgreement', renewal, proofHeader(proof)))['agreement']).toMatchObject({
      state: 'active',
      lease_revision: 2,
    });
    expect(refused(await wire.call('GetAgreement', key))).toMatchObject({ status: 404 });
    expect(accepted(await wire.call('GetAgreement', key, proofHeader(proof)))['agreement']).toMatchObject({
      state: 'active',
    });
    expect(refused(await wire.call('EndAgreement', key))).toMatchObject({ status: 404 });
    const ended = accepted(await wire.call('EndAgreement', { ...key, reason: 'completed' }, proofHeader(proof)))[
      'agreement'
    ];
    expect(ended).toMatchObject({ state: 'ended', end_reason: 'completed' });
    const again = accepted(await wire.call('EndAgreement', { ...key, reason: 'breach' }, proofHeader(proof)))[
      'agreement'
    ];
    expect(again).toMatchObject({ end_reason: 'completed' });
    expect(
      refused(await wire.call('RenewAgreement', { ...renewal, lease_revision: 2 }, proofHeader(proof))),
    ).toMatchObject({ status: 410, code: 'agreement_ended' });
  });

  it('works under an agreement with the agreed parameters, once for each call id', async () => {
    const { agreement, proof } = await agree({ parameters: { language: 'en', times: 2 }, limits: { max_calls: 2 } });
    const call = {
      agreement_id: agreement.agreement_id,
      terms_digest: agreement.terms_digest,
      capability: 'shout',
      call_id: `call-${String(counter)}`,
      input: { text: 'ha' },
    };
    const answer = accepted(await wire.call('Invoke', call, proofHeader(proof)));
    expect(answer).toMatchObject({
      output: { text: 'HAHA' },
      applied: { language: 'en', times: 2 },
      remaining: { calls: 1 },
    });
    expect(accepted(await wire.call('Invoke', call, proofHeader(proof)))).toMatchObject({ output: { text: 'HAHA' } });
    expect(
      refused(await wire.call('Invoke', { ...call, call_id: 'other', parameters: { times: 1 } }, proofHeader(proof))),
    ).toMatchObject({ status: 403, code: 'agreement_scope' });
    expect(
      refused(await wire.call('Invoke', { ...call, call_id: 'other', input: { words: 1 } }, proofHeader(proof))),
    ).toMatchObject({ status: 400 });
    expect(refused(await wire.call('Invoke', call))).toMatchObject({ status: 404, code: 'agreement_unknown' });
  });

  it('lists its agreements to the operator only', async () => {
    expect(refused(await wire.call('ListAgreements', {}))).toMatchObject({ status: 401 });
    const body = accepted(
      await wire.call('ListAgreements', { state: 'active', limit: 1 }, { bearer: 'operator-token-of-the-suite' }),
    );
    expect(body['agreements']).toHaveLength(1);
    expect(body['next_cursor']).toEqual(expect.any(String));
  });

  it('delegates only for the operator, and says when no registry can be reached', async () => {
    const work = { capability: 'shout', input: { text: 'x' }, deadline_ms: 500 };
    expect(refused(await wire.call('Delegate', work))).toMatchObject({ status: 401 });
    expect(refused(await wire.call('Delegate', work, { bearer: 'operator-token-of-the-suite' }))).toMatchObject({
      status: 503,
      code: 'peer_unreachable',
    });
  });
});
