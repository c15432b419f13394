import { AppError } from '@parley/service-kit';
import type { NegotiationAttempt } from '../registry-client/wire.js';

/** No candidate was left. Code `negotiation_failed`; `unavailable` when trying again later may help. */
export class NegotiationFailed extends AppError {
  /** Everybody who was asked, in order, and what came of it. */
  readonly attempts: readonly NegotiationAttempt[];

  constructor(
    attempts: readonly NegotiationAttempt[],
    options: { readonly retryable: boolean; readonly detail?: string },
  ) {
    super(options.retryable ? 'unavailable' : 'failed_precondition', options.detail ?? summary(attempts), {
      code: 'negotiation_failed',
    });
    this.attempts = attempts;
  }
}

function summary(attempts: readonly NegotiationAttempt[]): string {
  if (attempts.length === 0) return 'No agent offers what was asked for.';
  const list = attempts.map(
    ({ agent_id, outcome, reason }) => `${agent_id} ${outcome}${reason === undefined ? '' : ` (${reason})`}`,
  );
  return `No agreement: ${list.join(', ')}.`;
}
