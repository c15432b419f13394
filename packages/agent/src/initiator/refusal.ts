import { invalidField, type AppError } from '@parley/service-kit';
import { END_REASONS, type EndReason } from '../wire/agreement.js';

/**
 * What a responder's answer to a renewal or a call says about the agreement itself.
 * `over`: it is gone there; `differs`: both sides see different things, which ends it for both;
 * `declined`: it runs out; `behind`: an earlier renewal was taken though its answer was lost; `unsaid`: nothing.
 */
export type Refusal =
  | { readonly kind: 'over'; readonly reason: string }
  | { readonly kind: 'differs' }
  | { readonly kind: 'declined' }
  | { readonly kind: 'behind' }
  | { readonly kind: 'unsaid' };

export function refusalOf(error: AppError): Refusal {
  const named = namedRefusalOf(error);
  if (named.kind !== 'unsaid') return named;
  if (error.reason === 'gone') return { kind: 'over', reason: endReasonIn(error) ?? 'released_by_responder' };
  return error.reason === 'not_found' ? { kind: 'over', reason: 'view_mismatch' } : named;
}

/** By code alone: after a call, `not found` may also be about the work. */
export function namedRefusalOf(error: AppError): Refusal {
  switch (error.code) {
    case 'agreement_ended':
      return { kind: 'over', reason: endReasonIn(error) ?? 'released_by_responder' };
    // The responder lost it, or never took us for a party.
    case 'agreement_unknown':
      return { kind: 'over', reason: 'view_mismatch' };
    case 'view_mismatch':
    case 'agreement_terms_mismatch':
      return { kind: 'differs' };
    case 'renewal_declined':
      return { kind: 'declined' };
    case 'lease_revision_stale':
      return { kind: 'behind' };
    default:
      return { kind: 'unsaid' };
  }
}

/** The end reason as the responder names it beside the agreement's id. */
function endReasonIn(error: AppError): string | undefined {
  return error.errors.map(({ message }) => message).find(isEndReason);
}

export function isEndReason(text: string): text is EndReason {
  return (END_REASONS as readonly string[]).includes(text);
}

/** Reasons that only the keeper of an agreement can know. */
const NOT_FOR_INITIATORS: ReadonlySet<string> = new Set<EndReason>([
  'released_by_responder',
  'expired',
  'not_confirmed',
  'renewal_declined',
  'terms_withdrawn',
  'limit_exhausted',
]);

/** @throws AppError invalid_request for a reason that an initiator cannot give. */
export function checkOwnReason(reason: string): void {
  if (!isEndReason(reason) || NOT_FOR_INITIATORS.has(reason)) {
    throw invalidField('reason', 'not a reason that an initiator can give');
  }
}
