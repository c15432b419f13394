import { z } from 'zod';
import {
  agreedScalar,
  agreementSchema,
  offerId,
  parameterKey,
  proofHash,
  termsSchema,
  withoutProtoKey,
} from './agreement.js';
import { sessionId, termsDigest } from './identifiers.js';

export const NEGOTIATION_OUTCOMES = ['accepted', 'countered', 'declined', 'withdrawn'] as const;
export type NegotiationOutcome = (typeof NEGOTIATION_OUTCOMES)[number];

/** Why terms were declined or countered. */
export const NEGOTIATION_REASONS = [
  'capability_missing',
  'version_unsatisfied',
  'parameter_required',
  'parameter_not_allowed',
  'parameter_unsupported',
  'capacity',
  'policy',
  'not_authorized',
  'rounds_exhausted',
  'no_candidates',
  'declined_by_initiator',
  'withdrawn_by_initiator',
  'timeout',
] as const;
export type NegotiationReasonCode = (typeof NEGOTIATION_REASONS)[number];

// A peer may be newer: unknown fields are left out, unknown codes of reasons are kept as text.

const reasonSchema = z.object({
  code: z.string().max(64),
  detail: z.string().max(4_000).default(''),
  retryable: z.boolean().default(false),
  retry_after_ms: z.int().min(0).optional(),
  items: z
    .array(
      z.object({
        name: z.string().max(256),
        code: z.string().max(64).default(''),
        detail: z.string().max(4_000).default(''),
      }),
    )
    .max(4_096)
    .default([]),
});
export type NegotiationReason = z.output<typeof reasonSchema>;
export type ReasonItem = NegotiationReason['items'][number];

export const offerSchema = z.object({
  offer_id: offerId,
  terms: termsSchema,
  terms_digest: termsDigest,
  valid_until: z.iso.datetime({ offset: true }),
  in_reply_to_offer_id: offerId.optional(),
});
export type Offer = z.output<typeof offerSchema>;

/**
 * The answer to a negotiation, as a caller checks what a peer sent. A peer of the plain protocol
 * answers `{session_id, accepted, parameters}` only: `outcome` is then derived from `accepted`.
 */
export const negotiationResponse = z
  .object({
    session_id: sessionId,
    accepted: z.boolean().default(false),
    parameters: withoutProtoKey(z.record(parameterKey, agreedScalar)).default({}),
    outcome: z.enum(NEGOTIATION_OUTCOMES).optional(),
    reason: reasonSchema.optional(),
    offer: offerSchema.optional(),
    agreement: agreementSchema.optional(),
    agreement_proof: z.string().min(1).max(256).optional(),
    unsupported_parameters: z.array(z.string().max(129)).max(256).default([]),
    round: z.int().min(0).default(0),
    max_rounds: z.int().min(0).default(0),
    responder_proof_hash: proofHash.optional(),
  })
  .transform(({ outcome, ...answer }) => ({
    ...answer,
    outcome: outcome ?? (answer.accepted ? 'accepted' : 'declined'),
  }));
/** JSON form of the answer; only `agreement_proof` is secret. */
export type NegotiationResponse = z.output<typeof negotiationResponse>;
