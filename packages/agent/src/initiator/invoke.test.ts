import { silentLogger } from '@parley/service-kit';
import { onTestsEnd, startSilentListener } from '@parley/testkit';
import { agreementOf } from '../../test-support/agreements.js';
import {
  problem,
  startJsonServer,
  type JsonAnswer,
  type JsonRequest,
  type JsonServer,
} from '../../test-support/json-server.js';
import { createPeerHttp } from '../peer/index.js';
import { invokeUnder, type InvokeOptions } from './invoke.js';
import { LivingAgreement } from './living-agreement.js';
import { httpResponderClient, type InvokeResponse } from './responder-client.js';

const http = createPeerHttp({ timeoutMs: 2_000 });
onTestsEnd(() => http.close());
const responder = httpResponderClient(http);

type Call = Record<string, unknown>;

function good(request: JsonRequest, more: Call = {}): JsonAnswer {
  const { call_id, capability, terms_digest } = request.body as Call;
  const applied = { depth: 2, style: 'short' };
  return { status: 200, body: { call_id, capability, terms_digest, applied, output: { ok: true }, ...more } };
}

function hold(endpoint: string): LivingAgreement {
  const agreement = new LivingAgreement(
    { responder, logger: silentLogger, now: Date.now, random: Math.random },
    {
      agreement: agreementOf(),
      endpoint,
      proof: 'proof-of-the-initiator',
      responderProofHash: undefined,
      askedAt: Date.now(),
    },
  );
  onTestsEnd(() => {
    agreement.endedByPeer('operator');
  });
  return agreement;
}

function call(agreement: LivingAgreement, options: InvokeOptions = {}): Promise<InvokeResponse> {
  return invokeUnder(responder, agreement, 'code_review', { text: 'x', left: undefined }, options);
}

describe('a call', () => {
  it('carries the agreement, its digest and the work in the body, and the secret in the header alone', async () => {
    const server = await startJsonServer((request) => good(request, { remaining: { calls: 4 } }));
    const agreement = hold(server.url);
    const answer = await call(agreement, { callId: 'c1' });
    expect(answer).toMatchObject({ output: { ok: true }, remaining: { calls: 4 } });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/invoke',
      headers: { 'parley-agreement-proof': 'proof-of-the-initiator' },
    });
    expect(request?.body).toEqual({
      agreement_id: 'g1',
      terms_digest: agreement.termsDigest,
      capability: 'code_review',
      call_id: 'c1',
      input: { text: 'x' },
      parameters: {},
    });
  });

  it.each([
    ['another value', { depth: 1, style: 'short' }],
    ['a value of another type', { depth: '2', style: 'short' }],
    ['one less', { depth: 2 }],
    ['one more', { depth: 2, style: 'short', tone: 'kind' }],
    ['none', {}],
  ])('fails loudly when %s was applied', async (_, applied) => {
    const { url } = await startJsonServer((request) => good(request, { applied }));
    await expect(call(hold(url))).rejects.toMatchObject({ reason: 'bad_gateway', code: 'applied_mismatch' });
  });

  it.each([
    ['another call', { call_id: 'other' }],
    ['another capability', { capability: 'translate' }],
    ['other terms', { terms_digest: `sha256:${'a'.repeat(43)}` }],
    ['an output that is no object', { output: 'text' }],
  ])('refuses an answer about %s', async (_, more) => {
    const { url } = await startJsonServer((request) => good(request, more));
    await expect(call(hold(url))).rejects.toMatchObject({ code: 'peer_invalid_answer' });
  });

  it('is made once more, under the same id, when the connection is lost', async () => {
    const server: JsonServer = await startJsonServer((request) => {
      if (server.requests.length > 1) return good(request);
      request.response.destroy();
      return undefined;
    });
    expect((await call(hold(server.url))).output).toEqual({ ok: true });
    const ids = server.requests.map(({ body }) => (body as Call)['call_id']);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it('is not made a third time, nor after a refusal or a timeout', async () => {
    const losing = await startJsonServer(({ response }) => {
      response.destroy();
      return undefined;
    });
    await expect(call(hold(losing.url))).rejects.toMatchObject({ code: 'peer_unreachable' });
    expect(losing.requests).toHaveLength(2);
    const busy = await startJsonServer(() => problem(503, 'busy'));
    await expect(call(hold(busy.url))).rejects.toMatchObject({ code: 'busy' });
    expect(busy.requests).toHaveLength(1);
    const silent = await startSilentListener();
    await expect(call(hold(silent.url), { deadlineMs: 100 })).rejects.toMatchObject({ code: 'peer_timeout' });
    expect(silent.accepted).toBe(1);
  });

  it('ends the agreement here when the responder says that it is over, and only then', async () => {
    const over = await startJsonServer(() =>
      problem(410, 'agreement_ended', 'over', { errors: [{ path: 'agreement_id', message: 'limit_exhausted' }] }),
    );
    const agreement = hold(over.url);
    await expect(call(agreement)).rejects.toMatchObject({ code: 'agreement_ended' });
    expect(agreement.endReason).toBe('limit_exhausted');
    // The work did not find something; the agreement has nothing to do with it.
    const { url } = await startJsonServer(() => problem(404, 'file_not_found'));
    const living = hold(url);
    await expect(call(living)).rejects.toMatchObject({ code: 'file_not_found' });
    expect(living.state).toBe('active');
    const suspended = await startJsonServer(() => problem(503, 'agreement_suspended'));
    const paused = hold(suspended.url);
    await expect(call(paused)).rejects.toMatchObject({ code: 'agreement_suspended' });
    expect(paused.endReason).toBeUndefined();
  });

  it('asks nobody when the agreement is over or does not cover it', async () => {
    const server = await startJsonServer((request) => good(request));
    const agreement = hold(server.url);
    await expect(invokeUnder(responder, agreement, 'translate', {})).rejects.toMatchObject({ code: 'agreement_scope' });
    agreement.endedByPeer('shutdown');
    await expect(call(agreement)).rejects.toMatchObject({
      code: 'agreement_ended',
      message: 'The agreement has ended: shutdown.',
    });
    expect(server.requests).toEqual([]);
  });

  it('takes answers beyond the size of a negotiation, but not of any size', async () => {
    const server = await startJsonServer((request) => good(request, { output: { text: 'x'.repeat(200_000) } }));
    expect((await call(hold(server.url))).output['text']).toHaveLength(200_000);
    await expect(call(hold(server.url), { maxAnswerBytes: 100_000 })).rejects.toMatchObject({
      code: 'peer_invalid_answer',
    });
  });
});
