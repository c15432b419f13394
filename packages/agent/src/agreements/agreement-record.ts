import type { AgreementState, EndReason, Terms } from '../wire/agreement.js';

/** Who made an agreement end; `keeper`: a deadline or a rule, at this side. */
export type EndedBy = 'initiator' | 'responder' | 'keeper';

/**
 * An agreement as its keeper, the responder, holds it. Never changed in place: each change is a new
 * record with a greater `version`, written by compare-and-set. All times are ms since the epoch.
 */
export interface AgreementRecord {
  readonly agreementId: string;
  readonly sessionId: string;
  readonly initiator: string;
  readonly responder: string;
  readonly state: AgreementState;
  /** In the form that travels, because its digest is what both sides compare. */
  readonly terms: Terms;
  readonly termsDigest: string;
  /** base64url(SHA-256(secret)) of the initiator's secret; who shows the secret is the initiator. */
  readonly proofHash: string;
  /** Shown by the responder when it calls the initiator about this agreement. Never leaves the process otherwise. */
  readonly responderProofSecret: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** `expiresAt` never passes it. */
  readonly lifetimeEndsAt: number;
  /** While pending. */
  readonly confirmBy?: number;
  /** While suspended: when the suspension ends the agreement. */
  readonly suspendedUntil?: number;
  readonly suspendedAt?: number;
  /** While suspended: the parties whose registration lapsed. */
  readonly lapsed?: readonly string[];
  /** Grows with each renewal. */
  readonly leaseRevision: number;
  /** The responder declined to renew: the lease runs out with that reason. */
  readonly renewalDeclined?: boolean;
  /** Grows with each change except the counting of calls. */
  readonly version: number;
  readonly endReason?: EndReason;
  readonly endedAt?: number;
  readonly endedBy?: EndedBy;
  readonly via?: string;
  /** False: known not to be registered, so no registration event concerns this agreement. */
  readonly initiatorRegistered?: boolean;
  /** Ends an active agreement that was not used for so long; absent: never. */
  readonly idleEndMs?: number;
  /** Kept by the store from its calls; what a compare-and-set says about it is ignored. */
  readonly callsUsed: number;
  /** As `callsUsed`: when a call was last taken or given back. */
  readonly lastCallAt?: number;
}
