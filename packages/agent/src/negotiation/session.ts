import { AppError } from '@parley/service-kit';
import type { NegotiationResponse } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import { declinedAnswer, withdrawnAnswer } from './compose-answer.js';
import { reasonOf } from './decide.js';
import { acceptKey, closed, emptySession, offerExpired, viewOf, type SessionSettings } from './session-effects.js';
import type { OfferRecord, SessionRecord } from './session-record.js';

/** What a message means for its session; the caller stores `session` before it lets `answer` go. */
export type SessionStep =
  /** Nothing changes. `agreementId`: the answer shows an agreement that has to be shown as it is now. */
  | {
      readonly kind: 'answer';
      readonly answer: NegotiationResponse;
      readonly repeated: boolean;
      readonly agreementId?: string;
    }
  /** A proposal to decide on, as this round. */
  | { readonly kind: 'judge'; readonly round: number; readonly maxRounds: number }
  /** The initiator takes the offer on the table. */
  | { readonly kind: 'take'; readonly offer: OfferRecord }
  | { readonly kind: 'write'; readonly session: SessionRecord; readonly answer: NegotiationResponse }
  /** The initiator gives up something that was agreed: the agreement has to end as well. */
  | {
      readonly kind: 'withdraw';
      readonly session: SessionRecord;
      readonly answer: NegotiationResponse;
      readonly agreementId: string;
    };

/**
 * The session's state machine: decides, from what is remembered, what a message does. Pure.
 * @throws AppError `conflict`: `session_conflict`, `session_closed`, `offer_superseded`, `offer_mismatch`;
 * `gone`: `offer_expired`; `not_found`: `session_unknown`. None of these changes anything or spends a round.
 */
export function nextStep(
  session: SessionRecord | undefined,
  request: NegotiationRequest,
  digest: string,
  now: number,
  settings: SessionSettings,
): SessionStep {
  switch (request.action) {
    case 'propose':
      return proposed(session, request, digest, now, settings);
    case 'accept':
      return taken(known(session), request, now);
    case 'decline':
      return declinedByInitiator(known(session), request, now, settings);
    case 'withdraw':
      return withdrawn(session, request, now, settings);
  }
}

function proposed(
  session: SessionRecord | undefined,
  request: NegotiationRequest,
  digest: string,
  now: number,
  settings: SessionSettings,
): SessionStep {
  const wishedRounds = Math.min(request.max_rounds ?? settings.maxRounds, settings.maxRounds);
  if (session === undefined) {
    if (request.in_reply_to_offer_id !== undefined) throw sessionUnknown();
    return { kind: 'judge', round: 1, maxRounds: wishedRounds };
  }
  if (session.state === 'withdrawn')
    return { kind: 'answer', answer: withdrawnAnswer(viewOf(session)), repeated: false };
  const before = session.answers[digest];
  if (before !== undefined) return repeat(session, before);
  const reply = request.in_reply_to_offer_id;
  if (reply === undefined) {
    throw conflict(
      'session_conflict',
      'This session already holds another proposal, and this one replies to no offer.',
    );
  }
  const offer = offerOnTable(session, reply);
  if (offer.validUntil <= now) throw offerExpired();
  sameProof(session, request);
  const maxRounds = Math.min(session.maxRounds, wishedRounds);
  if (session.round < maxRounds) return { kind: 'judge', round: session.round + 1, maxRounds };
  const reason = reasonOf('rounds_exhausted', 'No rounds are left in this session.');
  const answer = declinedAnswer({ ...viewOf(session), max_rounds: maxRounds }, { reason, unsupported: [] });
  return {
    kind: 'write',
    session: closed({ ...session, maxRounds }, 'declined', now, settings, [digest, answer]),
    answer,
  };
}

function taken(session: SessionRecord, request: NegotiationRequest, now: number): SessionStep {
  const offer = offerOnTable(session, request.offer_id, 'agreed');
  if (offer.termsDigest !== request.terms_digest) {
    throw conflict('offer_mismatch', 'The digest is not that of the offered terms.');
  }
  sameProof(session, request);
  const before = session.answers[acceptKey(offer.offerId)];
  if (before !== undefined) return repeat(session, before);
  if (offer.validUntil <= now) throw offerExpired();
  return { kind: 'take', offer };
}

function declinedByInitiator(
  session: SessionRecord,
  request: NegotiationRequest,
  now: number,
  settings: SessionSettings,
): SessionStep {
  const key = `decline:${request.offer_id ?? ''}`;
  const before = session.state === 'declined' ? session.answers[key] : undefined;
  if (before !== undefined) return repeat(session, before);
  if (session.state === 'agreed')
    throw conflict('session_conflict', 'The offer was taken; the agreement can be ended.');
  offerOnTable(session, request.offer_id);
  const reason = reasonOf('declined_by_initiator', 'The initiator declined the offer.');
  const answer = declinedAnswer(viewOf(session), { reason, unsupported: [] });
  return { kind: 'write', session: closed(session, 'declined', now, settings, [key, answer]), answer };
}

function withdrawn(
  session: SessionRecord | undefined,
  request: NegotiationRequest,
  now: number,
  settings: SessionSettings,
): SessionStep {
  const base = session ?? emptySession(request, settings);
  const answer = withdrawnAnswer(viewOf(base));
  const next = closed(base, 'withdrawn', now, settings);
  if (session?.agreementId !== undefined) {
    return {
      kind: 'withdraw',
      session: session.state === 'withdrawn' ? session : next,
      answer,
      agreementId: session.agreementId,
    };
  }
  // One that comes before its proposal is remembered and wins.
  return session?.state === 'withdrawn'
    ? { kind: 'answer', answer, repeated: true }
    : { kind: 'write', session: next, answer };
}

function repeat(session: SessionRecord, answer: NegotiationResponse): SessionStep {
  const shows = answer.agreement !== undefined && session.agreementId !== undefined;
  return { kind: 'answer', answer, repeated: true, ...(shows ? { agreementId: session.agreementId } : {}) };
}

function offerOnTable(session: SessionRecord, offerId: string | undefined, alsoIn?: 'agreed'): OfferRecord {
  if (offerId !== undefined && session.supersededOfferIds.includes(offerId)) {
    throw conflict('offer_superseded', 'A later offer has taken the place of this one.');
  }
  if (session.state !== 'open' && session.state !== alsoIn) {
    throw conflict('session_closed', `The negotiation is over (${session.state}).`);
  }
  if (session.offer?.offerId !== offerId || session.offer === undefined) {
    throw conflict('offer_mismatch', 'There is no such offer in this session.');
  }
  return session.offer;
}

function sameProof(session: SessionRecord, request: NegotiationRequest): void {
  if (session.proofHash !== undefined && request.proof_hash !== undefined && session.proofHash !== request.proof_hash) {
    throw conflict('session_conflict', 'This session has another proof_hash.');
  }
}

function known(session: SessionRecord | undefined): SessionRecord {
  if (session === undefined) throw sessionUnknown();
  return session;
}

function sessionUnknown(): AppError {
  return new AppError('not_found', 'There is no such negotiation.', { code: 'session_unknown' });
}

function conflict(code: string, message: string): AppError {
  return new AppError('conflict', message, { code });
}
