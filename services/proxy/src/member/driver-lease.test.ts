import { Agent, hashProof, negotiationRequest, type NegotiationResponse } from '@parley/agent';
import { silentLogger } from '@parley/service-kit';
import { Refusal } from '../domain/facts.js';
import { alreadyClaimed } from '../domain/refusals.js';
import { type ClaimableEngine, DriverLease } from './driver-lease.js';
import { PLAYABLE, PLAYABLE_DETAIL } from './playable.js';

/** Claims as the engine does; `beforeKept` is awaited while a claim is written down. */
class FakeEngine implements ClaimableEngine {
  claimed: { readonly agreementId?: string } | undefined;
  beforeKept: Promise<unknown> = Promise.resolve();
  readonly released: string[] = [];
  /** So many releases fail. */
  failures = 0;
  #token: string | undefined;

  async claim(token: string, under: { readonly agreementId?: string } = {}): Promise<void> {
    if (this.#token !== undefined && this.#token !== token) throw alreadyClaimed();
    await this.beforeKept;
    if (this.#token === token) return;
    this.#token = token;
    this.claimed = under;
  }

  release(agreementId: string): Promise<void> {
    if ((this.failures -= 1) >= 0) return Promise.reject(new Error('disk full'));
    this.released.push(agreementId);
    if (this.claimed?.agreementId === agreementId) this.#token = this.claimed = undefined;
    return Promise.resolve();
  }
}

const SECRET = 'the secret of the initiator';
let now = Date.parse('2026-03-01T12:00:00Z');
let engine: FakeEngine;
let lease: DriverLease;
let agent: Agent;
let sessions = 0;

beforeEach(() => {
  engine = new FakeEngine();
  lease = new DriverLease(engine, silentLogger);
  agent = new Agent({
    manifest: { agentId: 'proxy', endpoint: 'http://127.0.0.1:9', capabilities: { [PLAYABLE]: PLAYABLE_DETAIL } },
    keeper: { settings: { maxAgreements: 1 }, policy: lease.policy },
    now: () => now,
  });
  lease.follow(agent.keeper);
});

afterEach(() => agent.stop());

async function propose(fields: object = {}): Promise<NegotiationResponse> {
  const request = negotiationRequest.parse({
    session_id: `s-${(sessions += 1)}`,
    agent_id: 'driver',
    capabilities: [PLAYABLE],
    proof_hash: hashProof(SECRET),
    ...fields,
  });
  return lease.explained(await agent.handleNegotiation(request));
}

async function agreed(): Promise<string> {
  const { agreement } = await propose();
  if (agreement === undefined) throw new Error('no agreement');
  return agreement.agreement_id;
}

const refused = (status: number, message: RegExp): unknown =>
  expect.objectContaining({ status, message: expect.stringMatching(message) as string });

describe('an exclusive agreement', () => {
  it('is what everybody gets who agrees, and nothing else can be agreed on', async () => {
    const answer = await propose({ parameters: { exclusive: false } });
    expect(answer).toMatchObject({ outcome: 'countered', parameters: { exclusive: true } });
    expect(await propose()).toMatchObject({ accepted: true, parameters: { exclusive: true } });
  });

  it('leaves no room for a second one, and says why', async () => {
    const id = await agreed();
    expect(await propose({ agent_id: 'other' })).toMatchObject({
      outcome: 'declined',
      reason: { code: 'capacity', retryable: true, detail: expect.stringContaining('exclusively') as string },
    });
    await agent.keeper.end(id, { proof: SECRET });
    expect(await propose({ agent_id: 'other' })).toMatchObject({ accepted: true });
  });

  it('takes one place of many that are wanted at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => propose({ agent_id: `driver-${n}` })));
    expect(answers.filter(({ accepted }) => accepted)).toHaveLength(1);
  });

  it('claims with its proof, becomes active by that, and keeps others out', async () => {
    const id = await agreed();
    await expect(lease.claim('stranger', undefined)).rejects.toEqual(refused(409, /^this proxy is already claimed$/u));
    expect((await agent.keeper.get(id, { internal: true })).state).toBe('pending');
    await lease.claim('token', { agreementId: id, proof: SECRET });
    expect((await agent.keeper.get(id, { internal: true })).state).toBe('active');
    expect(engine.claimed).toEqual({ agreementId: id });
    await expect(lease.claim('stranger', undefined)).rejects.toEqual(refused(409, /already claimed/u));
    // The driver itself may come again, with the agreement or without.
    await lease.claim('token', undefined);
    await lease.claim('token', { agreementId: id, proof: SECRET });
  });

  it('is not claimed under by whoever lacks its proof, whatever is said of its id', async () => {
    const id = await agreed();
    for (const shown of [
      { agreementId: id, proof: 'guessed' },
      { agreementId: 'agr-none', proof: SECRET },
    ]) {
      await expect(lease.claim('token', shown)).rejects.toEqual(
        refused(401, /isn't known here, or its proof is wrong/u),
      );
    }
    expect(engine.claimed).toBeUndefined();
  });

  it.each(['completed', 'released_by_initiator'] as const)('frees the proxy with its end: %s', async (reason) => {
    const id = await agreed();
    await lease.claim('token', { agreementId: id, proof: SECRET });
    await agent.keeper.end(id, { proof: SECRET, reason });
    await lease.settled();
    expect([engine.released, engine.claimed]).toEqual([[id], undefined]);
    await expect(lease.claim('token', { agreementId: id, proof: SECRET })).rejects.toEqual(
      refused(409, new RegExp(`has ended: ${reason}`, 'u')),
    );
    await lease.claim('stranger', undefined);
  });

  it('frees the proxy when its lease runs out', async () => {
    const id = await agreed();
    await lease.claim('token', { agreementId: id, proof: SECRET });
    now += 61_000;
    await agent.keeper.sweep();
    await lease.settled();
    expect([engine.released, engine.claimed]).toEqual([[id], undefined]);
  });

  it('that is not confirmed in time frees its place', async () => {
    await agreed();
    now += 16_000;
    await agent.keeper.sweep();
    await lease.claim('stranger', undefined);
  });

  it('that is suspended claims nothing until it is back', async () => {
    const id = await agreed();
    await agent.keeper.confirm(id, {
      proof: SECRET,
      termsDigest: (await agent.keeper.get(id, { internal: true })).terms_digest,
    });
    await agent.keeper.suspendFor('driver');
    await expect(lease.claim('token', { agreementId: id, proof: SECRET })).rejects.toEqual(refused(503, /suspended/u));
    await expect(lease.claim('stranger', undefined)).rejects.toEqual(refused(409, /already claimed/u));
    await agent.keeper.resumeFor('driver', { sameOwner: true });
    await lease.claim('token', { agreementId: id, proof: SECRET });
  });

  it('that ends while the claim is written down leaves nothing claimed', async () => {
    const id = await agreed();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    engine.beforeKept = promise;
    const claiming = lease.claim('token', { agreementId: id, proof: SECRET });
    claiming.catch(() => undefined);
    await new Promise(setImmediate);
    await agent.keeper.end(id, { proof: SECRET });
    resolve(undefined);
    await expect(claiming).rejects.toEqual(refused(409, /has ended/u));
    expect(engine.claimed).toBeUndefined();
  });
});

describe('a claim without an agreement', () => {
  it('lets nobody agree', async () => {
    await lease.claim('token', undefined);
    expect(await propose()).toMatchObject({
      outcome: 'declined',
      reason: { code: 'capacity', detail: expect.stringContaining('without an agreement') as string },
    });
  });

  it('that was first wins over an agreement made while it was written down', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    engine.beforeKept = promise;
    const claiming = lease.claim('token', undefined);
    const id = await agreed();
    resolve(undefined);
    await claiming;
    await new Promise(setImmediate);
    expect(await agent.keeper.get(id, { internal: true })).toMatchObject({
      state: 'ended',
      end_reason: 'released_by_responder',
    });
    expect(engine.claimed).toEqual({});
  });
});

describe('a claim of an earlier process', () => {
  it('under an agreement is released: nobody keeps that agreement any more', async () => {
    await engine.claim('token', { agreementId: 'agr-old' });
    await lease.releaseForgotten();
    expect(engine.claimed).toBeUndefined();
  });

  it('is released before the next claim when it could not be at its end', async () => {
    const id = await agreed();
    await lease.claim('token', { agreementId: id, proof: SECRET });
    engine.failures = 1;
    await agent.keeper.end(id, { proof: SECRET });
    await lease.settled();
    expect(engine.claimed).toEqual({ agreementId: id });
    await lease.claim('stranger', undefined);
    expect(engine.claimed).toEqual({});
  });

  it('by a token alone stays', async () => {
    await engine.claim('token');
    await lease.releaseForgotten();
    expect([engine.claimed, engine.released]).toEqual([{}, []]);
  });
});

it('no agreement can be shown to a proxy that is no agent', async () => {
  const alone = new DriverLease(engine, silentLogger);
  await expect(alone.claim('token', { agreementId: 'agr', proof: SECRET })).rejects.toBeInstanceOf(Refusal);
});
