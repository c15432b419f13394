import type { Agreement } from '../wire/agreement.js';
import type { AgreementRecord } from './agreement-record.js';

/** The agreement as anybody may see it: no proof, no secret. @param now for what is left of `confirm_within_ms`. */
export function toAgreement(record: AgreementRecord, now: number): Agreement {
  return {
    agreement_id: record.agreementId,
    session_id: record.sessionId,
    state: record.state,
    terms: record.terms,
    terms_digest: record.termsDigest,
    created_at: iso(record.createdAt),
    expires_at: iso(record.expiresAt),
    ...(record.confirmBy === undefined ? {} : { confirm_within_ms: Math.max(0, record.confirmBy - now) }),
    lease_revision: record.leaseRevision,
    version: record.version,
    ...(record.endReason === undefined ? {} : { end_reason: record.endReason }),
    ...(record.endedAt === undefined ? {} : { ended_at: iso(record.endedAt) }),
    ...(record.suspendedAt === undefined ? {} : { suspended_at: iso(record.suspendedAt) }),
    ...(record.via === undefined ? {} : { via: record.via }),
    calls_used: record.callsUsed,
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
