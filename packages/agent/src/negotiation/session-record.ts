import type { Scalar } from '../skill.js';
import type { Terms } from '../wire/agreement.js';
import type { NegotiationResponse } from '../wire/answers.js';

/** An offer this side made. Times are ms since the epoch. */
export interface OfferRecord {
  readonly offerId: string;
  readonly terms: Terms;
  readonly termsDigest: string;
  readonly validUntil: number;
  readonly inReplyTo?: string;
  /** The same values by `name` or `capability/name`. */
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly unsupported: readonly string[];
}

/**
 * `open`: an offer is on the table; `agreed`: there is an agreement; `declined`, `withdrawn`: over without one.
 * Nothing but a withdrawal leaves the last three.
 */
export type SessionState = 'open' | 'agreed' | 'declined' | 'withdrawn';

/**
 * One negotiation as the responder remembers it, under (initiator, sessionId). Never changed in place.
 */
export interface SessionRecord {
  readonly initiator: string;
  readonly sessionId: string;
  /** 1 with the first write, grows with each; given when it is stored. */
  readonly version: number;
  readonly state: SessionState;
  /** Proposals judged so far. */
  readonly round: number;
  readonly maxRounds: number;
  /** The initiator's, from the first message that carried one. */
  readonly proofHash?: string;
  /** Open: the offer on the table. Agreed: the one that was taken, if the agreement came from an offer. */
  readonly offer?: OfferRecord;
  readonly supersededOfferIds: readonly string[];
  /** What was answered, by digest of the request; never with a secret in it. */
  readonly answers: Readonly<Record<string, NegotiationResponse>>;
  readonly agreementId?: string;
  /** The initiator's secret made here, for a repeated answer; no store gives it back after `until`. */
  readonly secret?: { readonly value: string; readonly until: number };
  /** Until then it counts among the initiator's open offers; absent: not open. */
  readonly openUntil?: number;
  /** Forgotten afterwards. */
  readonly expiresAt: number;
}
