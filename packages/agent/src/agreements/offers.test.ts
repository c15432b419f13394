import { newProof } from '../negotiation/proof.js';
import type { NegotiationPolicy } from '../negotiation/policy.js';
import { agree, keeperFixture, manualClock, refusal, request } from '../../test-support/keeper-fixture.js';
import { countered } from './countered.test-helper.js';

const digest = `sha256:${'a'.repeat(43)}`;

describe('taking an offer', () => {
  it('twice gives the same answer, also when it is asked in other words', async () => {
    const { keeper, accept, events } = await countered();
    const first = await keeper.negotiate(request(accept));
    expect(await keeper.negotiate(request({ ...accept, message: 'yes!', deadline_ms: 10 }))).toEqual(first);
    expect(events).toHaveLength(1);
  });

  it('with another digest is a mismatch, before and after', async () => {
    const { keeper, accept } = await countered();
    const other = request({ ...accept, terms_digest: digest });
    expect(await refusal(keeper.negotiate(other))).toEqual({ code: 'offer_mismatch', reason: 'conflict' });
    expect((await keeper.negotiate(request(accept))).accepted).toBe(true);
    expect((await refusal(keeper.negotiate(other))).code).toBe('offer_mismatch');
  });

  it('in a session that is over is refused with the state, and a new session is free to begin (Connector#5018)', async () => {
    const { keeper, accept, base, offer_id } = await countered();
    await keeper.negotiate(request({ ...base, action: 'decline', offer_id }));
    const closed = await keeper.negotiate(request(accept)).catch((error: unknown) => error);
    expect(closed).toMatchObject({ status: 409, code: 'session_closed' });
    expect(String(closed)).toContain('declined');
    expect((await keeper.negotiate(request({ agent_id: base.agent_id }))).accepted).toBe(true);
  });

  it('past its end is refused, at the very moment of its end too (Connector#5377)', async () => {
    const { keeper, accept, base, offer_id, clock } = await countered();
    clock.advance(29_999);
    const reply = request({ ...base, in_reply_to_offer_id: offer_id });
    clock.advance(1);
    expect(await refusal(keeper.negotiate(request(accept)))).toEqual({ code: 'offer_expired', reason: 'gone' });
    expect((await refusal(keeper.negotiate(reply))).code).toBe('offer_expired');
  });

  it('is refused when the offer ran out while the policy thought about it (Connector#5377)', async () => {
    const clock = manualClock();
    const policy: NegotiationPolicy = () => {
      clock.advance(30_000);
      return { allow: true };
    };
    const { keeper, accept } = await countered(keeperFixture({ clock, policy }));
    expect((await refusal(keeper.negotiate(request(accept)))).code).toBe('offer_expired');
    expect(await keeper.countLiving()).toBe(0);
  });

  it('has longer when the initiator reads slowly (anax#1642)', async () => {
    const { keeper, clock } = keeperFixture();
    const slow = request({ session_id: 's', deadline_ms: 60_000, parameters: { language: 'fr' } });
    const { offer } = await keeper.negotiate(slow);
    clock.advance(59_000);
    const accept = { action: 'accept' as const, offer_id: offer?.offer_id, terms_digest: offer?.terms_digest };
    expect((await keeper.negotiate(request({ session_id: 's', ...accept }))).accepted).toBe(true);
  });

  it('needs the terms to be offered still', async () => {
    const { keeper, accept, capabilities } = await countered();
    capabilities.set('code_review', { version: '2.0.0' });
    expect((await refusal(keeper.negotiate(request(accept)))).code).toBe('offer_expired');
  });

  it('keeps the offer on the table when there is no place now', async () => {
    const fixture = keeperFixture({ settings: { maxAgreements: 1 } });
    const { keeper, accept } = await countered(fixture);
    const { id, proof } = await agree(keeper);
    expect(await keeper.negotiate(request(accept))).toMatchObject({
      outcome: 'declined',
      reason: { code: 'capacity' },
    });
    await keeper.end(id, { proof });
    expect((await keeper.negotiate(request(accept))).accepted).toBe(true);
  });

  it('cannot be done under another proof than the one proposed with', async () => {
    const { keeper } = keeperFixture();
    const own = newProof();
    const base = { session_id: 's', parameters: { language: 'fr' } };
    const { offer } = await keeper.negotiate(request({ ...base, proof_hash: own.hash }));
    const accept = {
      session_id: 's',
      action: 'accept' as const,
      offer_id: offer?.offer_id,
      terms_digest: offer?.terms_digest,
    };
    expect((await refusal(keeper.negotiate(request({ ...accept, proof_hash: newProof().hash })))).code).toBe(
      'session_conflict',
    );
    const { agreement } = await keeper.negotiate(request(accept));
    expect(agreement?.state).toBe('pending');
    const confirmed = { termsDigest: agreement?.terms_digest ?? '', proof: own.secret };
    expect((await keeper.confirm(agreement?.agreement_id ?? '', confirmed)).state).toBe('active');
  });
});

describe('declining an offer', () => {
  it('closes the session, and again gives the same answer', async () => {
    const { keeper, base, offer_id, accept } = await countered();
    const decline = { ...base, action: 'decline' as const, offer_id };
    const first = await keeper.negotiate(request(decline));
    expect(first).toMatchObject({ accepted: false, outcome: 'declined', reason: { code: 'declined_by_initiator' } });
    expect(await keeper.negotiate(request(decline))).toEqual(first);
    expect(await refusal(keeper.negotiate(request(accept)))).toEqual({ code: 'session_closed', reason: 'conflict' });
  });

  it('needs a known session, and an offer that was not taken', async () => {
    const { keeper, base, offer_id, accept } = await countered();
    const decline = { ...base, action: 'decline' as const, offer_id };
    expect((await refusal(keeper.negotiate(request({ ...decline, session_id: 'x' })))).code).toBe('session_unknown');
    expect((await refusal(keeper.negotiate(request({ ...decline, offer_id: 'off-x' })))).code).toBe('offer_mismatch');
    await keeper.negotiate(request(accept));
    expect((await refusal(keeper.negotiate(request(decline)))).code).toBe('session_conflict');
  });

  it('frees the initiator for other offers at once (support#193)', async () => {
    const fixture = keeperFixture({ settings: { maxOpenPerInitiator: 1 } });
    const { keeper, base, offer_id } = await countered(fixture);
    expect(await refusal(countered(fixture, 's2'))).toEqual({ code: 'too_many_open', reason: 'too_many_requests' });
    await keeper.negotiate(request({ ...base, action: 'decline', offer_id }));
    expect((await countered(fixture, 's2')).answer.outcome).toBe('countered');
  });
});

describe('a withdrawal', () => {
  const withdraw = { session_id: 's', action: 'withdraw' as const };

  it('that comes before its proposal wins (anax#165)', async () => {
    const { keeper, events } = keeperFixture();
    expect(await keeper.negotiate(request(withdraw))).toMatchObject({
      accepted: false,
      outcome: 'withdrawn',
      round: 0,
    });
    expect(await keeper.negotiate(request({ session_id: 's' }))).toMatchObject({
      accepted: false,
      outcome: 'withdrawn',
      reason: { code: 'withdrawn_by_initiator' },
    });
    expect(await keeper.negotiate(request(withdraw))).toMatchObject({ outcome: 'withdrawn' });
    expect(await keeper.countLiving()).toBe(0);
    expect(events).toEqual([]);
  });

  it('that comes while the proposal is decided on wins as well', async () => {
    const asked = Promise.withResolvers<undefined>();
    const verdict = Promise.withResolvers<{ allow: true }>();
    const { keeper } = keeperFixture({
      policy: () => {
        asked.resolve(undefined);
        return verdict.promise;
      },
    });
    const proposal = keeper.negotiate(request({ session_id: 's' }));
    await asked.promise;
    await keeper.negotiate(request(withdraw));
    verdict.resolve({ allow: true });
    expect((await proposal).outcome).toBe('withdrawn');
    expect(await keeper.countLiving()).toBe(0);
  });

  it('of an offer takes it from the table', async () => {
    const { keeper, accept } = await countered();
    expect((await keeper.negotiate(request(withdraw))).outcome).toBe('withdrawn');
    expect((await refusal(keeper.negotiate(request(accept)))).code).toBe('session_closed');
  });

  it('ends an agreement that was not confirmed and frees its place at once (support#193)', async () => {
    const { keeper, events } = keeperFixture();
    await agree(keeper, { session_id: 's', pending: true });
    expect(await keeper.negotiate(request(withdraw))).toMatchObject({ outcome: 'withdrawn', accepted: false });
    expect(await keeper.countLiving()).toBe(0);
    expect(events.map(({ type, record }) => [type, record.endReason])).toEqual([
      ['agreed', undefined],
      ['ended', 'released_by_initiator'],
    ]);
    expect((await keeper.negotiate(request(withdraw))).outcome).toBe('withdrawn');
    expect(events).toHaveLength(2);
  });

  it('ends one without a proof_hash while its secret may not have arrived', async () => {
    const { keeper, clock } = keeperFixture();
    const { id } = await agree(keeper, { session_id: 's' });
    clock.advance(14_999);
    expect((await keeper.negotiate(request(withdraw))).outcome).toBe('withdrawn');
    expect(await keeper.get(id, { internal: true })).toMatchObject({ end_reason: 'released_by_initiator' });
  });

  it('of what is in force needs the proof: a session id is no secret', async () => {
    const { keeper, clock } = keeperFixture();
    const { id, proof } = await agree(keeper, { session_id: 's' });
    clock.advance(15_000);
    expect(await refusal(keeper.negotiate(request(withdraw)))).toEqual({
      code: 'session_conflict',
      reason: 'conflict',
    });
    expect((await refusal(keeper.negotiate(request(withdraw), { proof: newProof().secret }))).code).toBe(
      'session_conflict',
    );
    expect((await keeper.get(id, { proof })).state).toBe('active');
    expect((await keeper.negotiate(request(withdraw), { proof })).outcome).toBe('withdrawn');
    expect((await keeper.get(id, { proof })).state).toBe('ended');
  });

  it('leaves the first reason of what had ended before', async () => {
    const { keeper } = keeperFixture();
    const { id, proof } = await agree(keeper, { session_id: 's' });
    await keeper.end(id, { proof, reason: 'completed' });
    await keeper.negotiate(request(withdraw));
    expect((await keeper.get(id, { proof })).end_reason).toBe('completed');
  });
});

describe('places', () => {
  it('are held by pending agreements and given back when nobody confirms (yagna#1270)', async () => {
    const { keeper, clock, events } = keeperFixture({ settings: { maxAgreements: 2 } });
    await agree(keeper, { pending: true });
    await agree(keeper);
    const declined = await keeper.negotiate(request());
    expect(declined).toMatchObject({ accepted: false, reason: { code: 'capacity', retryable: true } });
    clock.advance(15_000);
    expect(await keeper.sweep()).toBe(1);
    expect(events.at(-1)?.agreement).toMatchObject({ state: 'ended', end_reason: 'not_confirmed' });
    expect((await keeper.negotiate(request())).accepted).toBe(true);
  });

  it('are free at once when an agreement ends (yagna#1074)', async () => {
    const { keeper } = keeperFixture({ settings: { maxAgreements: 1 } });
    const { id, proof } = await agree(keeper);
    expect((await keeper.negotiate(request())).reason?.code).toBe('capacity');
    await keeper.end(id, { proof, reason: 'completed' });
    expect((await keeper.negotiate(request())).accepted).toBe(true);
  });

  it('are capped for each initiator', async () => {
    const { keeper } = keeperFixture({ settings: { maxOpenPerInitiator: 2 } });
    await agree(keeper, { pending: true });
    const { id, agreement, proof } = await agree(keeper, { pending: true });
    const third = request({ proof_hash: newProof().hash });
    const refused = await keeper.negotiate(third).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'too_many_open', status: 429, retryAfterSeconds: 15 });
    expect((await agree(keeper, { pending: true, agent_id: 'agent_C' })).agreement.state).toBe('pending');
    await keeper.confirm(id, { termsDigest: agreement.terms_digest, proof });
    expect((await keeper.negotiate(third)).accepted).toBe(true);
  });
});
