import { digestTerms } from '../src/negotiation/terms-digest.js';
import type { Agreement, Terms } from '../src/wire/agreement.js';

export const TERMS: Terms = {
  initiator: 'agent_A',
  responder: 'agent_B',
  capabilities: [{ name: 'code_review', version: '1.2.0', parameters: { depth: 2, style: 'short' } }],
  lease: { ttl_seconds: 60, max_lifetime_seconds: 86_400 },
};

/** An agreement as the keeper tells it; its times are the keeper's. */
export function agreementOf(more: Partial<Agreement> = {}, terms: Terms = TERMS): Agreement {
  return {
    agreement_id: 'g1',
    session_id: 's1',
    state: 'active',
    terms,
    terms_digest: digestTerms(terms),
    created_at: '2030-01-01T00:00:00.000Z',
    expires_at: '2030-01-01T00:01:00.000Z',
    lease_revision: 1,
    version: 1,
    calls_used: 0,
    ...more,
  };
}
