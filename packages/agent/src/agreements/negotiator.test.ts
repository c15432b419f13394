import { negotiationResponse } from '../wire/answers.js';
import { hashProof, newProof } from '../negotiation/proof.js';
import { digestTerms } from '../negotiation/terms-digest.js';
import type { NegotiationPolicy } from '../negotiation/policy.js';
import type { AgreementKeeper } from './keeper-types.js';
import { agree, keeperFixture, manualClock, refusal, request } from '../../test-support/keeper-fixture.js';

const digest = `sha256:${'a'.repeat(43)}`;

async function countered(fixture = keeperFixture(), sessionId = 's', agentId = 'agent_A') {
  const base = { session_id: sessionId, agent_id: agentId };
  const answer = await fixture.keeper.negotiate(request({ ...base, parameters: { language: 'fr', depth: 9 } }));
  if (answer.offer === undefined) throw new Error(`no offer but ${answer.outcome}`);
  const { offer_id, terms_digest } = answer.offer;
  return {
    ...fixture,
    answer,
    offer_id,
    terms_digest,
    base,
    accept: { ...base, action: 'accept' as const, offer_id, terms_digest },
  };
}

describe('a proposal', () => {
  it('that suits makes an agreement at once when there is no proof_hash, as the plain protocol wants it', async () => {
    const { keeper, clock } = keeperFixture();
    const answer = await keeper.negotiate(request({ session_id: 's', parameters: { language: 'ru' } }));
    expect(answer).toMatchObject({
      session_id: 's',
      accepted: true,
      outcome: 'accepted',
      parameters: { language: 'ru', depth: 3 },
      round: 1,
      max_rounds: 4,
      agreement: {
        state: 'active',
        lease_revision: 1,
        version: 1,
        calls_used: 0,
        created_at: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(answer.agreement).not.toHaveProperty('confirm_within_ms');
    expect(answer.agreement?.expires_at).toBe(new Date(clock.now() + 60_000).toISOString());
    expect(answer.agreement?.terms_digest).toBe(digestTerms(answer.agreement?.terms as never));
    expect(answer.agreement_proof).toMatch(/^[\w-]{43}$/);
    expect(answer.responder_proof_hash).toMatch(/^[\w-]{43}$/);
    // What leaves here is what a caller's check takes.
    expect(negotiationResponse.parse(JSON.parse(JSON.stringify(answer)))).toEqual(answer);
  });

  it('with a proof_hash makes a pending agreement and returns no secret', async () => {
    const { keeper } = keeperFixture();
    const answer = await keeper.negotiate(request({ proof_hash: newProof().hash, via: 'registry' }));
    expect(answer.agreement).toMatchObject({ state: 'pending', confirm_within_ms: 15_000, via: 'registry' });
    expect(answer).not.toHaveProperty('agreement_proof');
  });

  it('is countered with complete terms, and its counter taken makes the agreement', async () => {
    const { keeper, answer, accept, terms_digest } = await countered();
    expect(answer).toMatchObject({
      accepted: false,
      outcome: 'countered',
      parameters: { language: 'en', depth: 5 },
      reason: { code: 'parameter_not_allowed' },
      offer: { terms_digest, valid_until: '2026-01-01T00:00:30.000Z' },
    });
    expect(await keeper.negotiate(request(accept))).toMatchObject({
      accepted: true,
      parameters: { language: 'en', depth: 5 },
      agreement: { state: 'active', terms_digest },
    });
  });

  it('is written to the trace log with both directions (simple-compute-market#77)', async () => {
    const { keeper, logs } = keeperFixture();
    await keeper.negotiate(request({ session_id: 's-1', message: 'hello' }));
    await keeper.negotiate(request({ session_id: 's-2', capabilities: ['juggle', 'fly'] }));
    const steps = logs.filter(({ level }) => level === 'step');
    expect(steps.map(({ message }) => message)).toEqual([
      'Received negotiation, checking capabilities: code_review -> accepted',
      'Sent negotiation response: accepted',
      'Received negotiation, checking capabilities: juggle, fly -> declined: capability_missing',
      'Sent negotiation response: declined: capability_missing',
    ]);
    expect(steps[0]?.fields).toMatchObject({ session_id: 's-1', agent_id: 'agent_A', peer_message: 'hello' });
    expect(JSON.stringify(logs)).not.toContain('secret');
  });

  it('of another agent than the transport knows is refused', async () => {
    const { keeper } = keeperFixture();
    const caller = { authenticatedAgent: 'agent_C' };
    expect(await refusal(keeper.negotiate(request(), caller))).toEqual({
      code: 'agent_id_mismatch',
      reason: 'forbidden',
    });
    expect((await keeper.negotiate(request({ agent_id: 'agent_C' }), caller)).accepted).toBe(true);
  });

  it('tells metrics once per decision', async () => {
    const seen: unknown[] = [];
    const { keeper } = keeperFixture({ metrics: { onNegotiation: (...each) => seen.push(each) } });
    const same = request();
    await keeper.negotiate(same);
    await keeper.negotiate(same);
    await keeper.negotiate(request({ capabilities: ['juggle'] }));
    expect(seen).toEqual([
      ['accepted', undefined],
      ['declined', 'capability_missing'],
    ]);
  });
});

describe('the same request again', () => {
  it('is answered the same, secret included while the initiator may still miss it, and makes no second agreement', async () => {
    const { keeper, clock, events } = keeperFixture();
    const body = request({ session_id: 's', parameters: { language: 'ru' } });
    const first = await keeper.negotiate(body);
    expect(await keeper.negotiate({ ...body, message: 'again', deadline_ms: 7 })).toEqual(first);
    clock.advance(15_000);
    const { agreement_proof: _, ...later } = first;
    expect(await keeper.negotiate(body)).toEqual(later);
    expect(await keeper.countLiving()).toBe(1);
    expect(events.map(({ type }) => type)).toEqual(['agreed']);
  });

  it('shows the agreement as it is now, for as long as it lived and ten minutes more', async () => {
    const { keeper, clock } = keeperFixture();
    const body = request({ session_id: 's' });
    const { agreement_proof: proof, agreement } = await keeper.negotiate(body);
    const id = agreement?.agreement_id ?? '';
    await keeper.end(id, { proof, reason: 'completed' });
    expect(await keeper.negotiate(body)).toMatchObject({
      accepted: true,
      agreement: { agreement_id: id, state: 'ended', end_reason: 'completed' },
    });
    clock.advance(600_000);
    expect((await keeper.negotiate(body)).agreement?.agreement_id).not.toBe(id);
  });

  it('is answered once when both arrive together', async () => {
    const { keeper } = keeperFixture();
    const body = request();
    const [a, b] = await Promise.all([keeper.negotiate(body), keeper.negotiate(body)]);
    expect(a).toEqual(b);
    expect(await keeper.countLiving()).toBe(1);
  });

  it('is answered the same after a decline', async () => {
    const { keeper, capabilities } = keeperFixture();
    const body = request({ capabilities: ['juggle'] });
    const first = await keeper.negotiate(body);
    capabilities.set('juggle', {});
    expect(await keeper.negotiate(body)).toEqual(first);
    expect((await keeper.negotiate(request({ capabilities: ['juggle'] }))).accepted).toBe(true);
  });

  it('from two initiators with one session id is two sessions', async () => {
    const { keeper } = keeperFixture();
    const one = await keeper.negotiate(request({ session_id: 's', agent_id: 'agent_A' }));
    const two = await keeper.negotiate(request({ session_id: 's', agent_id: 'agent_C', parameters: { depth: 1 } }));
    expect([one.accepted, two.accepted]).toEqual([true, true]);
    expect(one.agreement?.agreement_id).not.toBe(two.agreement?.agreement_id);
  });
});

describe('another request in the same session', () => {
  it('without an offer to reply to is a conflict, whatever the session came to', async () => {
    const { keeper, base } = await countered();
    expect(await refusal(keeper.negotiate(request(base)))).toEqual({ code: 'session_conflict', reason: 'conflict' });
    await keeper.negotiate(request({ session_id: 'agreed' }));
    const other = { parameters: { depth: 1 } };
    expect((await refusal(keeper.negotiate(request({ session_id: 'agreed', ...other })))).code).toBe(
      'session_conflict',
    );
    await keeper.negotiate(request({ session_id: 'declined', capabilities: ['juggle'] }));
    expect((await refusal(keeper.negotiate(request({ session_id: 'declined' })))).code).toBe('session_conflict');
  });

  it('that replies to the offer is the next round, and supersedes the offer', async () => {
    const { keeper, base, accept, offer_id } = await countered();
    const reply = request({ ...base, in_reply_to_offer_id: offer_id, parameters: { language: 'xx' } });
    const second = await keeper.negotiate(reply);
    expect(second).toMatchObject({ outcome: 'countered', round: 2, offer: { in_reply_to_offer_id: offer_id } });
    expect(await refusal(keeper.negotiate(request(accept)))).toEqual({ code: 'offer_superseded', reason: 'conflict' });
    expect((await refusal(keeper.negotiate({ ...reply, parameters: { depth: 2 } }))).code).toBe('offer_superseded');
    const third = request({ ...base, in_reply_to_offer_id: second.offer?.offer_id, parameters: { language: 'ru' } });
    expect(await keeper.negotiate(third)).toMatchObject({ accepted: true, round: 3 });
  });

  it('needs an offer of this session', async () => {
    const { keeper, base, accept } = await countered();
    expect(await refusal(keeper.negotiate(request({ in_reply_to_offer_id: 'off-x' })))).toEqual({
      code: 'session_unknown',
      reason: 'not_found',
    });
    expect((await refusal(keeper.negotiate(request({ ...base, in_reply_to_offer_id: 'off-x' })))).code).toBe(
      'offer_mismatch',
    );
    expect((await refusal(keeper.negotiate(request({ ...accept, offer_id: 'off-x' })))).code).toBe('offer_mismatch');
    expect((await refusal(keeper.negotiate(request({ ...accept, session_id: 'x' })))).code).toBe('session_unknown');
    expect((await refusal(keeper.negotiate(request({ ...accept, agent_id: 'agent_C' })))).code).toBe('session_unknown');
  });
});

describe('rounds', () => {
  async function play(maxRounds: number, rounds: number) {
    const { keeper } = keeperFixture();
    const base = { session_id: 's', max_rounds: maxRounds };
    let answer = await keeper.negotiate(request({ ...base, parameters: { language: 'w0' } }));
    for (let round = 1; round < rounds; round += 1) {
      const reply = { in_reply_to_offer_id: answer.offer?.offer_id, parameters: { language: `w${String(round)}` } };
      answer = await keeper.negotiate(request({ ...base, ...reply }));
    }
    return { keeper, answer, base };
  }

  it('are counted, bounded by the smaller of both sides, and running out is an ordinary outcome (mycelium#184)', async () => {
    expect((await play(16, 4)).answer).toMatchObject({ outcome: 'countered', round: 4, max_rounds: 4 });
    expect((await play(16, 5)).answer).toMatchObject({
      outcome: 'declined',
      round: 4,
      max_rounds: 4,
      reason: { code: 'rounds_exhausted', retryable: false },
    });
    expect((await play(2, 3)).answer).toMatchObject({ outcome: 'declined', round: 2, max_rounds: 2 });
  });

  it('are not needed to take the last offer', async () => {
    const { keeper, answer } = await play(2, 2);
    const { offer_id, terms_digest } = answer.offer ?? { offer_id: '', terms_digest: '' };
    const taken = await keeper.negotiate(request({ session_id: 's', action: 'accept', offer_id, terms_digest }));
    expect(taken).toMatchObject({ accepted: true, round: 2, max_rounds: 2 });
  });

  it('are not spent by errors, by what must be understood, or by a lack of capacity (mycelium#174)', async () => {
    const fixture = keeperFixture({ settings: { maxAgreements: 1 } });
    const { keeper, base, offer_id } = await countered(fixture);
    const { id, proof } = await agree(keeper);
    const reply = { ...base, in_reply_to_offer_id: offer_id };
    expect(await keeper.negotiate(request({ ...reply, required_parameters: ['tone'] }))).toMatchObject({
      outcome: 'declined',
      round: 1,
      reason: { code: 'parameter_unsupported' },
    });
    expect((await refusal(keeper.negotiate(request(base)))).code).toBe('session_conflict');
    const full = request({ ...reply, parameters: { depth: 2 } });
    expect(await keeper.negotiate(full)).toMatchObject({ round: 1, reason: { code: 'capacity', retryable: true } });
    await keeper.end(id, { proof });
    expect(await keeper.negotiate(full)).toMatchObject({ accepted: true, round: 2 });
  });
});

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

describe('the policy', () => {
  it('sees complete terms and none of the free text, and its refusal is final unless it says otherwise', async () => {
    const seen: unknown[] = [];
    const policy: NegotiationPolicy = (asked, { terms, authenticatedAgent }) => {
      seen.push([Object.keys(asked).includes('message'), terms.capabilities, authenticatedAgent]);
      return { allow: false, code: 'not_authorized' };
    };
    const { keeper } = keeperFixture({ policy });
    const body = request({ message: 'accept this', capabilities: ['translate'] });
    const caller = { authenticatedAgent: 'agent_A' };
    const first = await keeper.negotiate(body, caller);
    expect(first).toMatchObject({ outcome: 'declined', reason: { code: 'not_authorized', retryable: false } });
    expect(await keeper.negotiate(body, caller)).toEqual(first);
    expect(seen).toEqual([[false, [{ name: 'translate' }], 'agent_A']]);
  });

  it('that fails, or is late, refuses for now', async () => {
    const broken = keeperFixture({
      policy: () => {
        throw new Error('database password is 1234');
      },
    });
    const body = request();
    const answer = await broken.keeper.negotiate(body);
    expect(answer).toMatchObject({ outcome: 'declined', reason: { code: 'policy', retryable: true } });
    expect(JSON.stringify(answer)).not.toContain('1234');

    let aborted = false;
    const slow = keeperFixture({
      settings: { policyTimeoutMs: 20 },
      policy: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            aborted = true;
          });
        }),
    });
    expect(await slow.keeper.negotiate(body)).toMatchObject({ reason: { code: 'policy', retryable: true } });
    expect(aborted).toBe(true);
  });

  it('is asked again when a refusal was not final', async () => {
    let allow = false;
    const policy: NegotiationPolicy = () =>
      allow ? { allow } : { allow: false, code: 'policy', retryable: true, retryAfterMs: 500 };
    const { keeper } = keeperFixture({ policy });
    const body = request();
    expect((await keeper.negotiate(body)).reason?.retry_after_ms).toBe(500);
    allow = true;
    expect((await keeper.negotiate(body)).accepted).toBe(true);
  });
});

describe('two agents that negotiate with each other', () => {
  it('both finish, though each asks the other while it decides (arkhai#89)', async () => {
    const keepers: AgreementKeeper[] = [];
    const asks =
      (other: number): NegotiationPolicy =>
      async ({ capabilities, agent_id }) => {
        if (capabilities.includes('translate')) return { allow: true };
        const counterpart = keepers[other];
        if (counterpart === undefined) throw new Error('no counterpart');
        const inner = await counterpart.negotiate(request({ agent_id, capabilities: ['translate'] }));
        return inner.accepted ? { allow: true } : { allow: false, code: 'policy' };
      };
    const a = keeperFixture({ agentId: 'agent_A', policy: asks(1) });
    const b = keeperFixture({ agentId: 'agent_B', policy: asks(0) });
    keepers.push(a.keeper, b.keeper);
    // What one side ends is told to the other from within the event, as a callback would.
    for (const { keeper } of [a, b]) {
      keeper.onEvent(({ type, record }) => {
        if (type === 'ended') void keeper.end(record.agreementId, { internal: true, reason: 'superseded' });
      });
    }
    const answers = await Promise.all([
      a.keeper.negotiate(request({ agent_id: 'agent_B' })),
      b.keeper.negotiate(request({ agent_id: 'agent_A' })),
    ]);
    expect(answers.map(({ accepted }) => accepted)).toEqual([true, true]);
    expect(await Promise.all([a.keeper.endFor('agent_A', 'shutdown'), b.keeper.endFor('agent_B', 'shutdown')])).toEqual(
      [2, 2],
    );
    for (const { events } of [a, b]) {
      expect(events.filter(({ type }) => type === 'ended').map(({ record }) => record.endReason)).toEqual([
        'shutdown',
        'shutdown',
      ]);
    }
  });
});

describe('proofs', () => {
  it('never stand in an event, a view or the log', async () => {
    const { keeper, events, logs } = keeperFixture();
    const { proof, answer, id } = await agree(keeper, { session_id: 's' });
    const responderSecret = events[0]?.record.responderProofSecret ?? '';
    expect(hashProof(responderSecret)).toBe(answer.responder_proof_hash);
    await keeper.end(id, { proof });
    const shown = JSON.stringify([
      logs,
      events.map(({ agreement }) => agreement),
      await keeper.list(),
      answer.agreement,
    ]);
    for (const secret of [proof, responderSecret, hashProof(proof)]) expect(shown).not.toContain(secret);
  });
});
