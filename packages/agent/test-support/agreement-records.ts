import { digestTerms } from '../src/negotiation/terms-digest.js';
import type { Terms } from '../src/wire/agreement.js';
import type { AgreementRecord } from '../src/agreements/agreement-record.js';
import { START } from './keeper-fixture.js';

/** An active agreement of 60 s that began at {@link START}. */
export function agreementRecord(over: Partial<AgreementRecord> = {}): AgreementRecord {
  const initiator = over.initiator ?? 'agent_A';
  const terms: Terms = {
    initiator,
    responder: 'agent_B',
    capabilities: [{ name: 'code_review', parameters: { ratio: 0.1, language: 'ru' } }],
    lease: { ttl_seconds: 60, max_lifetime_seconds: 600 },
  };
  return {
    agreementId: 'agr-1',
    sessionId: 'session-1',
    initiator,
    responder: 'agent_B',
    state: 'active',
    terms,
    termsDigest: digestTerms(terms),
    proofHash: 'p'.repeat(43),
    responderProofSecret: 'r'.repeat(43),
    createdAt: START,
    expiresAt: START + 60_000,
    lifetimeEndsAt: START + 600_000,
    leaseRevision: 1,
    version: 1,
    callsUsed: 0,
    ...over,
  };
}

export function pendingRecord(over: Partial<AgreementRecord> = {}): AgreementRecord {
  return agreementRecord({ state: 'pending', confirmBy: START + 15_000, ...over });
}
