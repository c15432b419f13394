import { AppError } from '@parley/service-kit';
import type { AgreementRecord } from './agreement-record.js';

/** Also for whoever is no party: what exists for others does not exist for them. */
export function agreementUnknown(): AppError {
  return new AppError('not_found', 'There is no such agreement.', { code: 'agreement_unknown' });
}

export function agreementEnded(record: AgreementRecord): AppError {
  const reason = record.endReason ?? 'expired';
  return new AppError('gone', `The agreement has ended: ${reason}.`, {
    code: 'agreement_ended',
    errors: [{ path: 'agreement_id', message: reason }],
  });
}

export function agreementSuspended(record: AgreementRecord, now: number): AppError {
  const left = Math.ceil(((record.suspendedUntil ?? now) - now) / 1_000);
  return new AppError('unavailable', 'The agreement is suspended until the registration of its party is back.', {
    code: 'agreement_suspended',
    retryAfterSeconds: Math.max(1, Math.min(left, 5)),
  });
}

export function termsMismatch(): AppError {
  return new AppError('conflict', 'The digest is not that of the agreed terms.', { code: 'agreement_terms_mismatch' });
}

export function agreementBusy(): AppError {
  return new AppError('unavailable', 'Too many changes at the same time; nothing was changed.', {
    code: 'agreement_busy',
  });
}
