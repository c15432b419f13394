import { AppError } from '@parley/service-kit';
import type { NegotiationResponse } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import { counteredAnswer, declinedAnswer, type RoundView } from './compose-answer.js';
import type { Countered, Declined, ProposedTerms } from './decide.js';
import type { OfferRecord, SessionRecord } from './session-record.js';

// What becomes of a session; the version is given when it is stored.

export interface SessionSettings {
  readonly maxRounds: number;
  readonly offerValidMs: number;
  readonly sessionRetentionMs: number;
}

/** The session after a proposal was countered or declined. `offerId` names the counter-offer. */
export function afterJudgement(
  session: SessionRecord | undefined,
  request: NegotiationRequest,
  digest: string,
  step: { readonly round: number; readonly maxRounds: number },
  decision: Countered | Declined,
  offerId: string,
  now: number,
  settings: SessionSettings,
): { readonly session: SessionRecord; readonly answer: NegotiationResponse } {
  const base = judgedBase(session, request, step, settings);
  if (decision.outcome === 'declined') {
    const answer = declinedAnswer(viewOf(base), decision);
    return { session: closed(base, 'declined', now, settings, [digest, answer]), answer };
  }
  const offer = toOffer(decision, offerId, request, now, settings);
  const answer = counteredAnswer(viewOf(base), offer, decision.reason);
  const next: SessionRecord = {
    ...base,
    state: 'open',
    offer,
    answers: { ...base.answers, [digest]: answer },
    openUntil: offer.validUntil,
    expiresAt: offer.validUntil + settings.sessionRetentionMs,
  };
  return { session: next, answer };
}

/** The session once there is an agreement; `answer` is kept without its secret. */
export function afterAgreement(
  session: SessionRecord | undefined,
  request: NegotiationRequest,
  digest: string,
  step: { readonly round: number; readonly maxRounds: number } | { readonly offer: OfferRecord },
  agreed: {
    readonly agreementId: string;
    readonly lifetimeEndsAt: number;
    readonly secret?: { readonly value: string; readonly until: number };
    readonly answer: NegotiationResponse;
  },
  settings: SessionSettings,
): SessionRecord {
  const base =
    'offer' in step
      ? { ...(session ?? emptySession(request, settings)), offer: step.offer }
      : judgedBase(session, request, step, settings);
  const { agreement_proof: _, ...answer } = agreed.answer;
  const { openUntil: __, ...rest } = base;
  const key = 'offer' in step ? acceptKey(step.offer.offerId) : digest;
  return {
    ...rest,
    state: 'agreed',
    ...(request.proof_hash === undefined ? {} : { proofHash: request.proof_hash }),
    answers: { ...base.answers, [key]: answer },
    agreementId: agreed.agreementId,
    ...(agreed.secret === undefined ? {} : { secret: agreed.secret }),
    expiresAt: agreed.lifetimeEndsAt + settings.sessionRetentionMs,
  };
}

/** The session with one more round spent: whatever offer was on the table is superseded. */
function judgedBase(
  session: SessionRecord | undefined,
  request: NegotiationRequest,
  { round, maxRounds }: { readonly round: number; readonly maxRounds: number },
  settings: SessionSettings,
): SessionRecord {
  const base = session ?? emptySession(request, settings);
  const { offer, ...rest } = base;
  return {
    ...rest,
    round,
    maxRounds,
    supersededOfferIds: offer === undefined ? base.supersededOfferIds : [...base.supersededOfferIds, offer.offerId],
    ...(request.proof_hash === undefined ? {} : { proofHash: request.proof_hash }),
  };
}

function toOffer(
  { terms, termsDigest, parameters, unsupported }: ProposedTerms,
  offerId: string,
  request: NegotiationRequest,
  now: number,
  settings: SessionSettings,
): OfferRecord {
  return {
    offerId,
    terms,
    termsDigest,
    parameters,
    unsupported,
    // An initiator that needs longer to read an answer gets a longer offer.
    validUntil: now + Math.max(settings.offerValidMs, request.deadline_ms ?? 0),
    ...(request.in_reply_to_offer_id === undefined ? {} : { inReplyTo: request.in_reply_to_offer_id }),
  };
}

export function emptySession(request: NegotiationRequest, settings: SessionSettings): SessionRecord {
  return {
    initiator: request.agent_id,
    sessionId: request.session_id,
    version: 0,
    state: 'open',
    round: 0,
    maxRounds: settings.maxRounds,
    supersededOfferIds: [],
    answers: {},
    expiresAt: 0,
  };
}

/** The session once it is over; `remembered` is the answer that said so. */
export function closed(
  session: SessionRecord,
  state: 'declined' | 'withdrawn',
  now: number,
  settings: SessionSettings,
  remembered?: readonly [string, NegotiationResponse],
): SessionRecord {
  const { openUntil: _, secret: __, ...rest } = session;
  return {
    ...rest,
    state,
    answers: remembered === undefined ? session.answers : { ...session.answers, [remembered[0]]: remembered[1] },
    expiresAt: now + settings.sessionRetentionMs,
  };
}

export function viewOf({ sessionId, round, maxRounds }: SessionRecord): RoundView {
  return { session_id: sessionId, round, max_rounds: maxRounds };
}

/** Under which the answer to taking an offer is remembered, whatever else that request says. */
export function acceptKey(offerId: string): string {
  return `accept:${offerId}`;
}

export function offerExpired(message = 'The offer is no longer valid.'): AppError {
  return new AppError('gone', message, { code: 'offer_expired' });
}
