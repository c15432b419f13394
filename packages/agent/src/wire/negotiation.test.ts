import { validate, type AppError } from '@parley/service-kit';
import { z } from 'zod';
import { invokeRequest, renewAgreementRequest } from './agreement.js';
import { negotiationFields, negotiationRequest, refineNegotiation, type NegotiationRequest } from './negotiation.js';

const propose = {
  session_id: 's',
  agent_id: 'agent_A',
  capabilities: ['code_review@^1.2'],
  parameters: { language: 'ru' },
};
const digest = `sha256:${'a'.repeat(43)}`;
const accept = { session_id: 's', agent_id: 'agent_A', action: 'accept', offer_id: 'off-1', terms_digest: digest };

function paths(schema: z.ZodType, input: unknown): string[] {
  try {
    validate(schema, input);
  } catch (error) {
    return (error as AppError).errors.map(({ path }) => path);
  }
  return [];
}

describe('a negotiation request', () => {
  it('is complete as the plain protocol sends it', () => {
    expect(validate(negotiationRequest, propose)).toEqual({ ...propose, required_parameters: [], action: 'propose' });
  });

  it.each<[string, object]>([
    ['session_id', { ...propose, session_id: '' }],
    ['session_id', { ...propose, session_id: 'x'.repeat(129) }],
    ['agent_id', { ...propose, agent_id: '/etc' }],
    ['capabilities', { ...propose, capabilities: [] }],
    ['capabilities', { ...propose, capabilities: Array.from({ length: 65 }, (_, at) => `c${String(at)}`) }],
    ['capabilities[0]', { ...propose, capabilities: ['code review'] }],
    ['capabilities[0]', { ...propose, capabilities: ['a@not-a-range'] }],
    ['parameters.language', { ...propose, parameters: { language: ['ru'] } }],
    ['parameters.language', { ...propose, parameters: { language: null } }],
    ['parameters.language', { ...propose, parameters: { language: 'x'.repeat(1_025) } }],
    ['parameters.language', { ...propose, parameters: { language: '\ud800' } }],
    ['parameters["a b"]', { ...propose, parameters: { 'a b': 1 } }],
    ['parameters["bad cap/p"]', { ...propose, parameters: { 'bad cap/p': 1 } }],
    [
      'parameters.__proto__',
      JSON.parse('{"session_id":"s","agent_id":"a","capabilities":["c"],"parameters":{"__proto__":1}}') as object,
    ],
    ['parameters.constructor', { ...propose, parameters: { constructor: 1 } }],
    ['required_parameters[0]', { ...propose, required_parameters: ['a b'] }],
    ['proof_hash', { ...propose, proof_hash: 'short' }],
    ['agreement_ttl_seconds', { ...propose, agreement_ttl_seconds: 0 }],
    ['agreement_ttl_seconds', { ...propose, agreement_ttl_seconds: 86_401 }],
    ['deadline_ms', { ...propose, deadline_ms: 60_001 }],
    ['max_rounds', { ...propose, max_rounds: 17 }],
    ['limits.max_calls', { ...propose, limits: { max_calls: 0 } }],
    ['limits.calls', { ...propose, limits: { calls: 3 } }],
    ['message', { ...propose, message: 'x'.repeat(1_001) }],
    ['message', { ...propose, message: '\u0000' }],
    ['capabilites', { ...propose, capabilites: [] }],
    ['action', { ...propose, action: 'agree' }],
    ['offer_id', { ...propose, offer_id: 'off-1' }],
    ['terms_digest', { ...propose, terms_digest: digest }],
    ['offer_id', { ...accept, offer_id: undefined }],
    ['terms_digest', { ...accept, terms_digest: undefined }],
    ['capabilities', { ...accept, capabilities: ['code_review'] }],
    ['parameters', { ...accept, parameters: { language: 'ru' } }],
    ['limits', { ...accept, limits: { max_calls: 1 } }],
    ['offer_id', { session_id: 's', agent_id: 'a', action: 'decline' }],
    ['offer_id', { session_id: 's', agent_id: 'a', action: 'withdraw', offer_id: 'off-1' }],
    ['proof_hash', { session_id: 's', agent_id: 'a', action: 'withdraw', proof_hash: 'a'.repeat(43) }],
  ])('is refused with the path %s (%#)', (path, input) => {
    expect(paths(negotiationRequest, input)).toContain(path);
  });

  it('takes empty maps and lists for absent ones, as one of the transports sends them', () => {
    const empty = { ...accept, capabilities: [], parameters: {}, required_parameters: [] };
    expect(validate(negotiationRequest, empty).action).toBe('accept');
  });

  it('splits a parameter key at the last slash', () => {
    expect(paths(negotiationRequest, { ...propose, parameters: { 'text/translate/language': 'ru' } })).toEqual([]);
  });

  it('can be extended by a broker with the same rules', () => {
    const extended = z
      .strictObject({ ...negotiationFields, target_agent_id: z.string().optional() })
      .superRefine((request: NegotiationRequest, context) => {
        refineNegotiation(request, context);
      });
    expect(validate(extended, { ...propose, target_agent_id: 'agent_B' })).toMatchObject({
      target_agent_id: 'agent_B',
    });
    expect(paths(extended, { ...propose, capabilities: [] })).toContain('capabilities');
  });
});

describe('other requests', () => {
  it('refuse unknown fields and wrong values by path', () => {
    const invoke = {
      agreement_id: 'agr-1',
      terms_digest: digest,
      capability: 'c',
      call_id: 'call',
      input: { a: [1, { b: null }] },
    };
    expect(validate(invokeRequest, invoke)).toEqual({ ...invoke, parameters: {} });
    expect(paths(invokeRequest, { ...invoke, input: [] })).toContain('input');
    expect(paths(invokeRequest, { ...invoke, call_id: 'x'.repeat(129) })).toContain('call_id');
    const renew = { agreement_id: 'agr-1', lease_revision: 1, terms_digest: digest };
    expect(paths(renewAgreementRequest, { ...renew, state: 'alive' })).toContain('state');
    expect(paths(renewAgreementRequest, { ...renew, proof: 'secret' })).toContain('proof');
  });
});
