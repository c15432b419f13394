import type { NegotiationResponse } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import type { RoundView } from '../negotiation/compose-answer.js';
import type { ProposedTerms } from '../negotiation/decide.js';
import type { SessionRecord } from '../negotiation/session-record.js';
import type { AgreementRecord } from './agreement-record.js';
import { toAgreement } from './agreement-view.js';
import type { KeeperContext } from './keeper-context.js';
import type { NegotiationCaller } from './keeper-types.js';

export interface MadeAgreement {
  readonly record: AgreementRecord;
  readonly answer: NegotiationResponse;
  /** Of the initiator, when it brought none: for a repeated answer. */
  readonly secret?: NonNullable<SessionRecord['secret']>;
}

/**
 * The agreement on accepted terms, and the answer that tells of it. An initiator that brought a `proof_hash` still has
 * to confirm; one that did not is given a secret, once, and the agreement holds at once.
 */
export function makeAgreement(
  context: KeeperContext,
  { terms, termsDigest, parameters, unsupported }: ProposedTerms,
  request: NegotiationRequest,
  view: RoundView,
  proofHash: string | undefined,
  caller: NegotiationCaller,
): MadeAgreement {
  const now = context.now();
  const { confirmWithinMs, idleEndSeconds } = context.settings;
  const own = context.newProof();
  const made = proofHash === undefined ? context.newProof() : undefined;
  const ttlMs = terms.lease.ttl_seconds * 1_000;
  const record: AgreementRecord = {
    agreementId: context.newId('agr'),
    sessionId: request.session_id,
    initiator: request.agent_id,
    responder: context.agentId,
    state: made === undefined ? 'pending' : 'active',
    terms,
    termsDigest,
    proofHash: proofHash ?? made?.hash ?? '',
    responderProofSecret: own.secret,
    createdAt: now,
    expiresAt: now + ttlMs,
    lifetimeEndsAt: now + terms.lease.max_lifetime_seconds * 1_000,
    ...(made === undefined ? { confirmBy: now + Math.min(confirmWithinMs, ttlMs) } : {}),
    leaseRevision: 1,
    version: 1,
    ...(request.via === undefined ? {} : { via: request.via }),
    ...(caller.initiatorRegistered === undefined ? {} : { initiatorRegistered: caller.initiatorRegistered }),
    ...(idleEndSeconds > 0 ? { idleEndMs: idleEndSeconds * 1_000 } : {}),
    callsUsed: 0,
  };
  const answer: NegotiationResponse = {
    ...view,
    accepted: true,
    parameters: { ...parameters },
    outcome: 'accepted',
    agreement: toAgreement(record, now),
    ...(made === undefined ? {} : { agreement_proof: made.secret }),
    unsupported_parameters: [...unsupported],
    responder_proof_hash: own.hash,
  };
  if (made === undefined) return { record, answer };
  return { record, answer, secret: { value: made.secret, until: now + confirmWithinMs } };
}
