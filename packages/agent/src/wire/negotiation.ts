import { z } from 'zod';
import type { Scalar } from '../skill.js';
import { agreementLimitFields, offerId, parameterKey, parameterMap, proofHash } from './agreement.js';
import { agentId, capabilityRequirement, plainText, sessionId, termsDigest } from './identifiers.js';

export const NEGOTIATION_ACTIONS = ['propose', 'accept', 'decline', 'withdraw'] as const;
export type NegotiationAction = (typeof NEGOTIATION_ACTIONS)[number];

/** `name` or `name@range`, checked and left as text: a broker passes it on as it came. */
export const requirementText = z.string().superRefine((text, context) => {
  for (const issue of capabilityRequirement.safeParse(text).error?.issues ?? []) {
    context.addIssue({ code: 'custom', message: issue.message });
  }
});

/**
 * The fields of a negotiation request, one by one, so that a broker can add its own to them
 * (together with {@link refineNegotiation}).
 */
export const negotiationFields = {
  /** Random; names one negotiation of this `agent_id`. */
  session_id: sessionId,
  agent_id: agentId,
  /** 1-64 with `propose`, none with the other actions. */
  capabilities: z.array(requirementText).max(64, 'at most 64 capabilities').default([]),
  parameters: parameterMap.default({}),
  /** Names (`name` or `capability/name`) that the responder must understand. */
  required_parameters: z.array(parameterKey).max(64, 'at most 64 names').default([]),
  /** Default `propose`. */
  action: z.enum(NEGOTIATION_ACTIONS).default('propose'),
  offer_id: offerId.optional(),
  terms_digest: termsDigest.optional(),
  in_reply_to_offer_id: offerId.optional(),
  /** base64url(SHA-256(secret)). */
  proof_hash: proofHash.optional(),
  agreement_ttl_seconds: z.int().min(1, 'at least 1').max(86_400, 'at most 86,400').optional(),
  deadline_ms: z.int().min(1, 'at least 1').max(60_000, 'at most 60,000').optional(),
  max_rounds: z.int().min(1, 'at least 1').max(16, 'at most 16').optional(),
  limits: z.strictObject(agreementLimitFields).optional(),
  /** Set by a broker: `registry`. */
  via: agentId.optional(),
  /** Free text for the log of the other side; never part of the terms. */
  message: plainText(1_000).optional(),
};

/** A negotiation as checked: defaults filled in, capabilities and parameters empty where none came. */
export interface NegotiationRequest {
  session_id: string;
  agent_id: string;
  capabilities: string[];
  parameters: Record<string, Scalar>;
  required_parameters: string[];
  action: NegotiationAction;
  offer_id?: string | undefined;
  terms_digest?: string | undefined;
  in_reply_to_offer_id?: string | undefined;
  proof_hash?: string | undefined;
  agreement_ttl_seconds?: number | undefined;
  deadline_ms?: number | undefined;
  max_rounds?: number | undefined;
  limits?: { max_calls?: number | undefined; max_concurrent_calls?: number | undefined } | undefined;
  via?: string | undefined;
  message?: string | undefined;
}

const TERM_FIELDS = [
  'capabilities',
  'parameters',
  'required_parameters',
  'in_reply_to_offer_id',
  'agreement_ttl_seconds',
  'max_rounds',
  'limits',
] as const;

/** Which fields an action must have, and which it must not. */
const ACTION_RULES: Record<
  NegotiationAction,
  { needs: readonly (keyof NegotiationRequest)[]; excludes: readonly (keyof NegotiationRequest)[] }
> = {
  propose: { needs: ['capabilities'], excludes: ['offer_id', 'terms_digest'] },
  accept: { needs: ['offer_id', 'terms_digest'], excludes: TERM_FIELDS },
  decline: { needs: ['offer_id'], excludes: [...TERM_FIELDS, 'terms_digest', 'proof_hash'] },
  withdraw: { needs: [], excludes: [...TERM_FIELDS, 'offer_id', 'terms_digest', 'proof_hash'] },
};

/** The rules between the fields: what an action needs and what it must not carry. */
export function refineNegotiation(request: NegotiationRequest, context: z.RefinementCtx): void {
  const { needs, excludes } = ACTION_RULES[request.action];
  const fault = (field: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [field], message });
  };
  for (const field of needs) {
    if (!isGiven(request[field])) fault(field, `needed with action ${request.action}`);
  }
  for (const field of excludes) {
    if (isGiven(request[field])) fault(field, `not allowed with action ${request.action}`);
  }
}

function isGiven(value: unknown): boolean {
  if (value === undefined) return false;
  // A message without these fields and one with empty ones are the same on one of the transports.
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

/** A negotiation request; unknown fields are refused. */
export const negotiationRequest = z.strictObject(negotiationFields).superRefine(refineNegotiation);
/** What a caller writes: everything with a default may be left out. */
export type NegotiationInput = z.input<typeof negotiationRequest>;
