import type { Scalar } from '../skill.js';
import type { ReserveCallInput } from './keeper-types.js';
import { agree, keeperFixture, refusal, type Agreed } from '../../test-support/keeper-fixture.js';

let calls = 0;

function callOf({ id, agreement, proof }: Agreed, over: Partial<ReserveCallInput> = {}): ReserveCallInput {
  calls += 1;
  const callId = `call-${String(calls)}`;
  return { agreementId: id, termsDigest: agreement.terms_digest, capability: 'code_review', callId, proof, ...over };
}

describe('a call', () => {
  it('runs with what was agreed, complete with defaults', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper, { parameters: { language: 'ru' } });
    const given = { language: 'ru', 'code_review/depth': 3 };
    const reservation = await keeper.reserveCall(callOf(agreed, { parameters: given }));
    expect(reservation).toMatchObject({
      applied: { language: 'ru', depth: 3 },
      termsDigest: agreed.agreement.terms_digest,
      remaining: {},
      repeated: false,
      initiator: 'agent_A',
    });
    await reservation.release();
    expect((await keeper.get(agreed.id, agreed)).calls_used).toBe(1);
  });

  it('sent at once after the acceptance works and confirms it (yagna#921)', async () => {
    const { keeper, events, clock } = keeperFixture();
    const agreed = await agree(keeper, { pending: true });
    await keeper.reserveCall(callOf(agreed));
    expect(events.map(({ type }) => type)).toEqual(['agreed', 'confirmed']);
    clock.advance(15_000);
    expect((await keeper.get(agreed.id, agreed)).state).toBe('active');
  });

  it('that is not allowed confirms nothing', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper, { pending: true });
    await refusal(keeper.reserveCall(callOf(agreed, { capability: 'translate' })));
    expect((await keeper.get(agreed.id, agreed)).state).toBe('pending');
  });

  it('is checked in order: party, state, digest, capability, parameters, limit', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper, { limits: { max_calls: 1, max_concurrent_calls: 1 } });
    await keeper.reserveCall(callOf(agreed));
    const parameters = { language: 'de' };
    const wrong = { proof: 'not it', termsDigest: `sha256:${'x'.repeat(43)}`, capability: 'translate', parameters };
    const { capability, termsDigest } = callOf(agreed);
    const ask = (over: Partial<ReserveCallInput>) => refusal(keeper.reserveCall(callOf(agreed, over)));
    expect(await ask(wrong)).toEqual({ code: 'agreement_unknown', reason: 'not_found' });
    const own = { ...wrong, proof: agreed.proof };
    expect(await ask(own)).toEqual({ code: 'agreement_terms_mismatch', reason: 'conflict' });
    expect(await ask({ ...own, termsDigest })).toEqual({ code: 'agreement_scope', reason: 'forbidden' });
    const parameter = keeper.reserveCall(callOf(agreed, { ...own, termsDigest, capability }));
    await expect(parameter).rejects.toMatchObject({
      code: 'agreement_scope',
      errors: [{ path: 'parameters.language', message: 'not what was agreed' }],
    });
    expect(await ask({})).toEqual({ code: 'agreement_limit', reason: 'too_many_requests' });

    await keeper.suspendFor('agent_A');
    await expect(keeper.reserveCall(callOf(agreed, own))).rejects.toMatchObject({
      code: 'agreement_suspended',
      status: 503,
      retryAfterSeconds: 5,
    });
    await keeper.end(agreed.id, { proof: agreed.proof, reason: 'completed' });
    await expect(keeper.reserveCall(callOf(agreed, own))).rejects.toMatchObject({
      code: 'agreement_ended',
      status: 410,
      errors: [{ path: 'agreement_id', message: 'completed' }],
    });
  });

  it.each<[Record<string, Scalar>]>([
    [{ tone: 'x' }],
    [{ toString: 'x' }],
    [{ 'translate/language': 'en' }],
    [{ depth: '3' }],
  ])('with a parameter that was not agreed is out of scope (%#)', async (parameters) => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper);
    const call = callOf(agreed, { parameters });
    expect((await refusal(keeper.reserveCall(call))).code).toBe('agreement_scope');
  });

  it('under a lease that has run out is refused, though nobody swept (go-sdk#1258)', async () => {
    const { keeper, clock } = keeperFixture();
    const agreed = await agree(keeper);
    clock.advance(60_000);
    expect((await refusal(keeper.reserveCall(callOf(agreed)))).code).toBe('agreement_ended');
  });

  it('keeps to the agreed terms after the manifest has changed (go-sdk#1258)', async () => {
    const { keeper, capabilities } = keeperFixture();
    const agreed = await agree(keeper, { parameters: { language: 'ru' } });
    capabilities.set('code_review', { version: '9.0.0' });
    expect((await keeper.reserveCall(callOf(agreed))).applied).toEqual({ language: 'ru', depth: 3 });
  });
});

describe('limits', () => {
  it('count a call id once, however often it is sent', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper, { limits: { max_calls: 3 } });
    const call = callOf(agreed);
    expect((await keeper.reserveCall(call)).remaining).toEqual({ calls: 2 });
    const again = await keeper.reserveCall(call);
    expect(again).toMatchObject({ repeated: true, remaining: { calls: 2 } });
    expect((await keeper.reserveCall(callOf(agreed))).remaining).toEqual({ calls: 1 });
  });

  it('bound what runs at the same time', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper, { limits: { max_concurrent_calls: 1 } });
    const call = callOf(agreed);
    const first = await keeper.reserveCall(call);
    expect((await refusal(keeper.reserveCall(callOf(agreed)))).code).toBe('agreement_limit');
    // The repeated call holds no place of its own, and gives none back.
    await (await keeper.reserveCall(call)).release();
    expect((await refusal(keeper.reserveCall(callOf(agreed)))).code).toBe('agreement_limit');
    await first.release();
    await first.release();
    const next = await keeper.reserveCall(callOf(agreed));
    await first.release();
    expect((await refusal(keeper.reserveCall(callOf(agreed)))).code).toBe('agreement_limit');
    await next.release();
  });

  it('that are used up end the agreement after its last call has finished', async () => {
    const { keeper, events } = keeperFixture();
    const agreed = await agree(keeper, { limits: { max_calls: 2 } });
    const first = await keeper.reserveCall(callOf(agreed));
    const second = await keeper.reserveCall(callOf(agreed));
    expect(second.remaining).toEqual({ calls: 0 });
    await second.release();
    expect((await keeper.get(agreed.id, agreed)).state).toBe('active');
    await first.release();
    expect(await keeper.get(agreed.id, agreed)).toMatchObject({
      state: 'ended',
      end_reason: 'limit_exhausted',
      calls_used: 2,
    });
    expect(events.filter(({ type }) => type === 'ended')).toHaveLength(1);
    expect(await keeper.countLiving()).toBe(0);
  });

  it('that are used up end it at a renewal when the last call never came back', async () => {
    const { keeper, clock } = keeperFixture({ settings: { callDeadlineMs: 1_000 } });
    const agreed = await agree(keeper, { limits: { max_calls: 1 } });
    await keeper.reserveCall(callOf(agreed));
    const renew = { leaseRevision: 1, termsDigest: agreed.agreement.terms_digest, proof: agreed.proof };
    expect((await keeper.renew(agreed.id, renew)).lease_revision).toBe(2);
    clock.advance(1_000);
    expect((await refusal(keeper.renew(agreed.id, { ...renew, leaseRevision: 2 }))).code).toBe('agreement_ended');
    expect((await keeper.get(agreed.id, agreed)).end_reason).toBe('limit_exhausted');
  });

  it('are not touched by a release after the end', async () => {
    const { keeper } = keeperFixture();
    const agreed = await agree(keeper, { limits: { max_calls: 1 } });
    const call = await keeper.reserveCall(callOf(agreed));
    await keeper.end(agreed.id, { proof: agreed.proof, reason: 'completed' });
    await call.release();
    expect((await keeper.get(agreed.id, agreed)).end_reason).toBe('completed');
  });
});
