import type { AppError } from '@parley/service-kit';
import type { AttemptOutcome } from '../registry-client/wire.js';
import type { NoAgreement } from './negotiation-types.js';

type FailedOutcome = Exclude<AttemptOutcome, 'accepted'>;

const OUTCOME_OF_CODE: Readonly<Record<string, FailedOutcome>> = {
  peer_timeout: 'timeout',
  peer_unreachable: 'unreachable',
  peer_invalid_answer: 'invalid_answer',
  target_refused: 'target_refused',
  cancelled: 'withdrawn',
};

/** What a failure means for the attempt: silence is `timeout`, and only an answer can be a refusal. */
export function outcomeOfError(error: AppError, signal: AbortSignal): { outcome: FailedOutcome; reason: NoAgreement } {
  const outcome =
    signal.aborted && error.reason === 'cancelled' ? 'withdrawn' : (OUTCOME_OF_CODE[error.code] ?? answered(error));
  const retryable = ['unavailable', 'deadline_exceeded', 'too_many_requests'].includes(error.reason);
  return {
    outcome,
    reason: {
      code: error.code,
      detail: error.message,
      retryable,
      ...(error.retryAfterSeconds === undefined ? {} : { retryAfterMs: error.retryAfterSeconds * 1_000 }),
    },
  };
}

/** A problem in place of terms: the responder is there and will not. One that broke inside is no refusal. */
function answered(error: AppError): FailedOutcome {
  return error.reason === 'internal' || error.reason === 'bad_gateway' ? 'invalid_answer' : 'declined';
}
