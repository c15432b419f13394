import type { NegotiationReason, NegotiationResponse } from '../wire/answers.js';
import { reasonOf, type Declined } from './decide.js';
import type { OfferRecord } from './session-record.js';

export interface RoundView {
  readonly session_id: string;
  readonly round: number;
  readonly max_rounds: number;
}

export function declinedAnswer(
  view: RoundView,
  { reason, unsupported }: Pick<Declined, 'reason' | 'unsupported'>,
): NegotiationResponse {
  return {
    ...view,
    accepted: false,
    parameters: {},
    outcome: 'declined',
    reason,
    unsupported_parameters: [...unsupported],
  };
}

export function counteredAnswer(view: RoundView, offer: OfferRecord, reason: NegotiationReason): NegotiationResponse {
  return {
    ...view,
    accepted: false,
    parameters: { ...offer.parameters },
    outcome: 'countered',
    reason,
    offer: {
      offer_id: offer.offerId,
      terms: offer.terms,
      terms_digest: offer.termsDigest,
      valid_until: new Date(offer.validUntil).toISOString(),
      ...(offer.inReplyTo === undefined ? {} : { in_reply_to_offer_id: offer.inReplyTo }),
    },
    unsupported_parameters: [...offer.unsupported],
  };
}

/** Also what a proposal is told that comes after its own withdrawal. */
export function withdrawnAnswer(view: RoundView): NegotiationResponse {
  return {
    ...view,
    accepted: false,
    parameters: {},
    outcome: 'withdrawn',
    reason: reasonOf('withdrawn_by_initiator', 'The initiator withdrew.'),
    unsupported_parameters: [],
  };
}
