import { keeperFixture, request } from '../../test-support/keeper-fixture.js';

/** A session in which the responder has answered with a counter. */
export async function countered(fixture = keeperFixture(), sessionId = 's', agentId = 'agent_A') {
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
