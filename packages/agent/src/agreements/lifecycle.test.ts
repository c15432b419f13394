import { jest } from '@jest/globals';
import { newProof } from '../negotiation/proof.js';
import { END_REASONS } from '../wire/agreement.js';
import type { AgreementKeeper } from './keeper-types.js';
import { agree, keeperFixture, refusal, type Agreed } from '../../test-support/keeper-fixture.js';

const wrongDigest = `sha256:${'x'.repeat(43)}`;
const unknown = { code: 'agreement_unknown', reason: 'not_found' };

function renewal({ agreement, proof }: Agreed, over: Partial<Parameters<AgreementKeeper['renew']>[1]> = {}) {
  return { leaseRevision: 1, termsDigest: agreement.terms_digest, proof, ...over };
}

describe('a confirmation', () => {
  it('makes a pending agreement active, once (yagna#430)', async () => {
    const { keeper, events } = keeperFixture();
    const { id, agreement, proof } = await agree(keeper, { pending: true });
    const input = { termsDigest: agreement.terms_digest, proof };
    const confirmed = await keeper.confirm(id, input);
    expect(confirmed).toMatchObject({ state: 'active', version: 2, lease_revision: 1 });
    expect(confirmed).not.toHaveProperty('confirm_within_ms');
    expect(await keeper.confirm(id, input)).toEqual(confirmed);
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'confirmed']);
  });

  it('in time is taken, at the deadline no more, and then frees the place (yagna#1270)', async () => {
    const { keeper, clock } = keeperFixture();
    const inTime = await agree(keeper, { pending: true });
    const late = await agree(keeper, { pending: true });
    clock.advance(14_999);
    await keeper.confirm(inTime.id, { termsDigest: inTime.agreement.terms_digest, proof: inTime.proof });
    clock.advance(1);
    const tooLate = keeper.confirm(late.id, { termsDigest: late.agreement.terms_digest, proof: late.proof });
    await expect(tooLate).rejects.toMatchObject({
      code: 'agreement_ended',
      status: 410,
      errors: [{ path: 'agreement_id', message: 'not_confirmed' }],
    });
    expect(await keeper.countLiving()).toBe(1);
  });

  it('of other terms, or by another, changes nothing', async () => {
    const { keeper } = keeperFixture();
    const { id, agreement, proof } = await agree(keeper, { pending: true });
    expect(await refusal(keeper.confirm(id, { termsDigest: wrongDigest, proof }))).toEqual({
      code: 'agreement_terms_mismatch',
      reason: 'conflict',
    });
    const termsDigest = agreement.terms_digest;
    expect(await refusal(keeper.confirm(id, { termsDigest, proof: newProof().secret }))).toEqual(unknown);
    expect(await refusal(keeper.confirm(id, { termsDigest, proof: undefined }))).toEqual(unknown);
    expect((await keeper.get(id, { proof })).state).toBe('pending');
  });
});

describe('whoever is no party', () => {
  it('is answered as if the agreement did not exist, word for word', async () => {
    const { keeper } = keeperFixture();
    const { id, agreement, proof } = await agree(keeper);
    const other = newProof().secret;
    const input = { termsDigest: agreement.terms_digest, proof: other };
    const calls = (agreementId: string) => [
      keeper.confirm(agreementId, input),
      keeper.renew(agreementId, { ...input, leaseRevision: 1 }),
      keeper.renew(agreementId, { ...input, leaseRevision: 1, termsDigest: wrongDigest }),
      keeper.end(agreementId, { proof: other }),
      keeper.get(agreementId, { proof: other }),
      keeper.get(agreementId, { proof: undefined }),
      keeper.reserveCall({ ...input, agreementId, capability: 'code_review', callId: 'c' }),
    ];
    const told = async (promises: Promise<unknown>[]) =>
      (await Promise.allSettled(promises)).map((each) => {
        const { message, code, status, errors } = (each as PromiseRejectedResult).reason as Record<string, unknown>;
        return { message, code, status, errors };
      });
    expect(await told(calls(id))).toEqual(await told(calls('agr-none')));
    expect((await keeper.get(id, { proof })).state).toBe('active');
  });
});

describe('a renewal', () => {
  it('counts from now, keeps the later end, and counts its revisions', async () => {
    const { keeper, clock } = keeperFixture();
    const agreed = await agree(keeper);
    clock.advance(20_000);
    const renewed = await keeper.renew(agreed.id, renewal(agreed));
    expect(renewed).toMatchObject({ lease_revision: 2, expires_at: new Date(clock.now() + 60_000).toISOString() });
    const shorter = await keeper.renew(agreed.id, renewal(agreed, { leaseRevision: 2, ttlSeconds: 5 }));
    expect(shorter).toMatchObject({ lease_revision: 3, expires_at: renewed.expires_at });
    const longer = await keeper.renew(agreed.id, renewal(agreed, { leaseRevision: 3, ttlSeconds: 86_400 }));
    expect(longer.expires_at).toBe(renewed.expires_at);
  });

  it('again gives the same answer; of an older revision it is refused', async () => {
    const { keeper, clock } = keeperFixture();
    const agreed = await agree(keeper);
    clock.advance(1_000);
    const renewed = await keeper.renew(agreed.id, renewal(agreed));
    clock.advance(1_000);
    expect(await keeper.renew(agreed.id, renewal(agreed))).toEqual(renewed);
    await keeper.renew(agreed.id, renewal(agreed, { leaseRevision: 2 }));
    const stale = { code: 'lease_revision_stale', reason: 'conflict' };
    expect(await refusal(keeper.renew(agreed.id, renewal(agreed)))).toEqual(stale);
    expect(await refusal(keeper.renew(agreed.id, renewal(agreed, { leaseRevision: 4 })))).toEqual(stale);
    expect(await refusal(keeper.renew(agreed.id, renewal(agreed, { leaseRevision: 0 })))).toEqual(stale);
  });

  it('never leads past the longest life', async () => {
    const { keeper, clock } = keeperFixture({ settings: { maxLifetimeSeconds: 100 } });
    const agreed = await agree(keeper);
    const end = clock.now() + 100_000;
    for (let leaseRevision = 1; leaseRevision <= 4; leaseRevision += 1) {
      clock.advance(20_000);
      await keeper.renew(agreed.id, renewal(agreed, { leaseRevision }));
    }
    expect((await keeper.get(agreed.id, agreed)).expires_at).toBe(new Date(end).toISOString());
    clock.advance(20_000);
    expect(await keeper.get(agreed.id, agreed)).toMatchObject({ state: 'ended', end_reason: 'expired' });
  });

  it('never revives, and says how it ended (anax#254)', async () => {
    const { keeper, clock, events } = keeperFixture();
    const expired = await agree(keeper);
    const released = await agree(keeper);
    await keeper.end(released.id, { proof: released.proof, reason: 'completed' });
    clock.advance(60_000);
    for (const [agreed, message] of [
      [expired, 'expired'],
      [released, 'completed'],
    ] as const) {
      await expect(keeper.renew(agreed.id, renewal(agreed))).rejects.toMatchObject({
        code: 'agreement_ended',
        errors: [{ path: 'agreement_id', message }],
      });
    }
    expect(events.filter(({ type }) => type === 'ended')).toHaveLength(2);
  });

  it('confirms what is pending', async () => {
    const { keeper, events } = keeperFixture();
    const agreed = await agree(keeper, { pending: true });
    expect(await keeper.renew(agreed.id, renewal(agreed, { state: 'active' }))).toMatchObject({
      state: 'active',
      lease_revision: 2,
    });
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'confirmed']);
  });

  it('ends the agreement when the two sides hold different ones, and somebody is told to look', async () => {
    const { keeper, logs, events } = keeperFixture();
    const otherTerms = await agree(keeper);
    const otherState = await agree(keeper);
    const views = [
      keeper.renew(otherTerms.id, renewal(otherTerms, { termsDigest: wrongDigest })),
      keeper.renew(otherState.id, renewal(otherState, { state: 'ended' })),
    ];
    for (const view of views) expect(await refusal(view)).toEqual({ code: 'view_mismatch', reason: 'conflict' });
    expect((await keeper.get(otherTerms.id, otherTerms)).end_reason).toBe('view_mismatch');
    expect(events.filter(({ type, record }) => type === 'ended' && record.endReason === 'view_mismatch')).toHaveLength(
      2,
    );
    expect(logs.filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  it('tells pending, active and suspended not apart: the other side may not know yet', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper);
    await keeper.suspendFor('agent_A');
    const renewed = await keeper.renew(agreed.id, renewal(agreed, { state: 'active' }));
    expect(renewed).toMatchObject({ state: 'suspended', lease_revision: 2 });
  });

  it('may be declined: the lease runs out, and says why', async () => {
    const { keeper, clock } = keeperFixture({ renewalPolicy: () => false });
    const agreed = await agree(keeper);
    const declined = { code: 'renewal_declined', reason: 'conflict' };
    expect(await refusal(keeper.renew(agreed.id, renewal(agreed)))).toEqual(declined);
    expect(await refusal(keeper.renew(agreed.id, renewal(agreed)))).toEqual(declined);
    expect(await keeper.get(agreed.id, agreed)).toMatchObject({ state: 'active', lease_revision: 1 });
    clock.advance(60_000);
    expect(await keeper.get(agreed.id, agreed)).toMatchObject({ state: 'ended', end_reason: 'renewal_declined' });
  });

  it('is given when its policy fails', async () => {
    const { keeper } = keeperFixture({ renewalPolicy: () => Promise.reject(new Error('down')) });
    const agreed = await agree(keeper);
    expect((await keeper.renew(agreed.id, renewal(agreed))).lease_revision).toBe(2);
  });
});

describe('an end', () => {
  it('answers the first reason however often it is asked, and is one event (yagna#1888)', async () => {
    const { keeper, events, logs, clock } = keeperFixture();
    const { id, proof } = await agree(keeper);
    const first = await keeper.end(id, { proof, reason: 'completed' });
    expect(first).toMatchObject({
      state: 'ended',
      end_reason: 'completed',
      ended_at: new Date(clock.now()).toISOString(),
    });
    clock.advance(5_000);
    expect(await keeper.end(id, { proof, reason: 'breach' })).toEqual(first);
    expect(await keeper.end(id, { internal: true, reason: 'operator' })).toEqual(first);
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'ended']);
    expect(events[1]?.record.endedBy).toBe('initiator');
    expect(logs.filter(({ fields }) => fields['end_reason'] === 'completed')).toHaveLength(1);
  });

  it('is by the initiator unless a reason says more, and takes no reason that only the keeper can know', async () => {
    const { keeper } = keeperFixture();
    const { id, proof } = await agree(keeper);
    for (const reason of ['expired', 'released_by_responder', 'limit_exhausted'] as const) {
      expect(await refusal(keeper.end(id, { proof, reason }))).toEqual({
        code: 'invalid_request',
        reason: 'invalid_request',
      });
    }
    expect((await keeper.end(id, { proof })).end_reason).toBe('released_by_initiator');
  });

  it('looks the same for every way of ending: one event, one count, a free place (support#438)', async () => {
    const counted: string[] = [];
    const { keeper, events } = keeperFixture({ metrics: { onEnd: (reason) => counted.push(reason) } });
    for (const reason of END_REASONS) {
      const { id } = await agree(keeper);
      await keeper.end(id, { internal: true, reason });
    }
    const ended = events.filter(({ type }) => type === 'ended');
    expect(ended.map(({ agreement }) => agreement.end_reason)).toEqual([...END_REASONS]);
    expect(counted).toEqual([...END_REASONS]);
    expect(await keeper.countLiving()).toBe(0);
  });

  it('stays readable for an hour, then is forgotten', async () => {
    const { keeper, clock } = keeperFixture();
    const { id, proof } = await agree(keeper);
    await keeper.end(id, { proof });
    clock.advance(3_599_999);
    expect((await keeper.get(id, { proof })).state).toBe('ended');
    clock.advance(1);
    expect(await refusal(keeper.get(id, { proof }))).toEqual(unknown);
    await keeper.sweep();
    expect((await keeper.list()).agreements).toEqual([]);
  });
});

describe('deadlines', () => {
  it('are acted on by the sweep, and by whoever looks before it', async () => {
    const { keeper, clock, events } = keeperFixture();
    const looked = await agree(keeper);
    await agree(keeper);
    clock.advance(59_999);
    expect(await keeper.sweep()).toBe(0);
    clock.advance(1);
    expect(await keeper.get(looked.id, looked)).toMatchObject({ state: 'ended', end_reason: 'expired' });
    expect(await keeper.sweep()).toBe(1);
    expect(await keeper.sweep()).toBe(0);
    expect(events.filter(({ type }) => type === 'ended')).toHaveLength(2);
  });

  it('can be looked at for a given time', async () => {
    const { keeper, clock } = keeperFixture();
    await agree(keeper);
    expect(await keeper.sweep(clock.now() + 60_000)).toBe(1);
  });

  it('of an idle agreement end it, but not while a call runs (yagna#1074)', async () => {
    const { keeper, clock } = keeperFixture({ settings: { idleEndSeconds: 10 } });
    const idle = await agree(keeper);
    const busy = await agree(keeper);
    const call = {
      agreementId: busy.id,
      termsDigest: busy.agreement.terms_digest,
      capability: 'code_review',
      callId: 'c',
      proof: busy.proof,
    };
    clock.advance(9_000);
    const { release } = await keeper.reserveCall(call);
    clock.advance(10_000);
    expect(await keeper.sweep()).toBe(1);
    expect(await keeper.get(idle.id, idle)).toMatchObject({ end_reason: 'released_by_responder' });
    clock.advance(5_000);
    expect(await keeper.sweep()).toBe(0);
    await release();
    clock.advance(9_999);
    expect(await keeper.sweep()).toBe(0);
    clock.advance(1);
    expect(await keeper.sweep()).toBe(1);
    expect(await keeper.countLiving()).toBe(0);
  });

  it('of the lease count for an idle agreement with a running call as well', async () => {
    const { keeper, clock } = keeperFixture({ settings: { idleEndSeconds: 10 } });
    const { id, agreement, proof } = await agree(keeper);
    await keeper.reserveCall({
      agreementId: id,
      termsDigest: agreement.terms_digest,
      capability: 'code_review',
      callId: 'c',
      proof,
    });
    clock.advance(60_000);
    expect(await keeper.get(id, { proof })).toMatchObject({ state: 'ended', end_reason: 'expired' });
  });
});

describe('events', () => {
  it('reach every listener though another one fails, until it leaves', async () => {
    const { keeper, logs } = keeperFixture();
    const seen: string[] = [];
    keeper.onEvent(() => {
      throw new Error('listener');
    });
    const leave = keeper.onEvent(({ type }) => seen.push(type));
    const { id, proof } = await agree(keeper);
    leave();
    await keeper.end(id, { proof });
    expect(seen).toEqual(['agreed']);
    expect(logs.filter(({ level }) => level === 'error')).toHaveLength(2);
  });
});

describe('a started keeper', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('sweeps by itself until it is stopped', async () => {
    const { keeper, clock } = keeperFixture();
    keeper.start();
    keeper.start();
    await agree(keeper);
    clock.advance(60_000);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await keeper.countLiving()).toBe(0);
    await agree(keeper);
    await keeper.stop();
    clock.advance(60_000);
    expect(jest.getTimerCount()).toBe(0);
    expect(await keeper.countLiving()).toBe(1);
  });
});
