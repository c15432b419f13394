import { negotiationResponse } from '../wire/answers.js';
import { hashProof, newProof } from '../negotiation/proof.js';
import { digestTerms } from '../negotiation/terms-digest.js';
import type { NegotiationPolicy } from '../negotiation/policy.js';
import type { AgreementKeeper } from './keeper-types.js';
import { agree, keeperFixture, refusal, request } from '../../test-support/keeper-fixture.js';
import { countered } from './countered.test-helper.js';

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
