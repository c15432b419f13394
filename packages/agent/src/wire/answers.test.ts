import { fromBinary, fromJson, toBinary, toJson, type JsonValue } from '@bufbuild/protobuf';
import { NegotiationResponseSchema } from '@parley/proto';
import { validate } from '@parley/service-kit';
import { keeperFixture, request } from '../../test-support/keeper-fixture.js';
import { negotiationResponse } from './answers.js';

const terms = {
  initiator: 'agent_A',
  responder: 'agent_B',
  capabilities: [{ name: 'code_review', version: '1.2.0', parameters: { language: 'ru' } }],
  lease: { ttl_seconds: 60, max_lifetime_seconds: 86_400 },
};

describe('the answer of a peer', () => {
  it('may be the plain one', () => {
    const plain = { session_id: 's', accepted: true, parameters: { language: 'ru' } };
    expect(validate(negotiationResponse, plain)).toMatchObject({
      ...plain,
      outcome: 'accepted',
      unsupported_parameters: [],
    });
    expect(validate(negotiationResponse, { session_id: 's', accepted: false, parameters: {} }).outcome).toBe(
      'declined',
    );
  });

  it('may come from a newer version: what is not known is left out, at every depth', () => {
    const answer = validate(negotiationResponse, {
      session_id: 's',
      accepted: true,
      parameters: {},
      outcome: 'accepted',
      future: true,
      reason: { code: 'some_new_reason', hint: 'x' },
      agreement: {
        agreement_id: 'agr-1',
        session_id: 's',
        state: 'pending',
        terms: { ...terms, price: 3 },
        terms_digest: `sha256:${'a'.repeat(43)}`,
        created_at: '2026-01-01T00:00:00.000Z',
        expires_at: '2026-01-01T00:01:00Z',
        colour: 'blue',
      },
    });
    expect(answer.agreement?.terms).toEqual(terms);
    expect(answer).not.toHaveProperty('future');
    expect(answer.reason).toEqual({ code: 'some_new_reason', detail: '', retryable: false, items: [] });
  });

  it.each([
    [{ accepted: true, parameters: {} }],
    [{ session_id: 's', accepted: 'yes', parameters: {} }],
    [{ session_id: 's', accepted: true, parameters: { a: {} } }],
    [{ session_id: 's', accepted: true, outcome: 'maybe' }],
    [{ session_id: 's', accepted: true, agreement: { state: 'done' } }],
  ])('is refused when it is not one (%#)', (answer) => {
    expect(() => validate(negotiationResponse, answer)).toThrow();
  });
});

describe('the answer of a keeper', () => {
  it.each([
    [{ parameters: { language: 'ru' }, limits: { max_calls: 3 } }],
    [{ capabilities: ['translate'], parameters: { tone: 'x' } }],
    [{ proof_hash: 'h'.repeat(43) }],
    [{ parameters: { depth: 99 } }],
    [{ capabilities: ['juggle', 'code_review@^9'] }],
    [{ required_parameters: ['tone'] }],
    [{ action: 'withdraw' as const }],
  ])('says the same after either transport (%#)', async (input) => {
    const answer = await keeperFixture().keeper.negotiate(request(input));
    const message = fromJson(NegotiationResponseSchema, JSON.parse(JSON.stringify(answer)) as JsonValue);
    const received = fromBinary(NegotiationResponseSchema, toBinary(NegotiationResponseSchema, message));
    expect(
      validate(negotiationResponse, toJson(NegotiationResponseSchema, received, { useProtoFieldName: true })),
    ).toEqual(answer);
  });
});
