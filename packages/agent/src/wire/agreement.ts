import { z } from 'zod';
import type { Scalar } from '../skill.js';
import { agentId, capabilityName, plainText, safeKey, sessionId, sha256Base64Url, termsDigest } from './identifiers.js';
import { parameterName } from './manifest.js';

/** Nothing leaves `ended`. */
export const AGREEMENT_STATES = ['pending', 'active', 'suspended', 'ended'] as const;
export type AgreementState = (typeof AGREEMENT_STATES)[number];

/** Why an agreement ended; the first recorded reason stays. */
export const END_REASONS = [
  'completed',
  'released_by_initiator',
  'released_by_responder',
  'expired',
  'not_confirmed',
  'renewal_declined',
  'party_unreachable',
  'party_deregistered',
  'terms_withdrawn',
  'limit_exhausted',
  'superseded',
  'breach',
  'view_mismatch',
  'shutdown',
  'operator',
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** A string of at most 1,024 characters, a finite number or a boolean. */
export const agreedScalar: z.ZodType<Scalar> = z.union(
  [
    z
      .string()
      .max(1_024, 'at most 1,024 characters')
      .refine((text) => text.isWellFormed(), 'must be well-formed Unicode'),
    z.number(),
    z.boolean(),
  ],
  { error: 'must be a string, a number or a boolean' },
);

/** Refuses a key that `z.record` would leave out without a word. */
export function withoutProtoKey<T>(map: z.ZodType<T>): z.ZodType<T> {
  return z
    .unknown()
    .superRefine((value, context) => {
      if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
        context.addIssue({ code: 'custom', path: ['__proto__'], message: 'this name is reserved' });
      }
    })
    .pipe(map);
}

/** Agreed parameters of one capability, by plain name. */
export const agreedParameters = withoutProtoKey(z.record(safeKey.pipe(parameterName), agreedScalar));

export const agreementLimitFields = {
  max_calls: z.int().min(1, 'at least 1').max(4_294_967_295, 'at most 4,294,967,295').optional(),
  max_concurrent_calls: z.int().min(1, 'at least 1').max(4_294_967_295, 'at most 4,294,967,295').optional(),
};

export const agreementId = plainText(128, 1);
export const offerId = plainText(128, 1);
export const callId = plainText(128, 1);
const timestamp = z.iso.datetime({ offset: true });
const count = z.int().min(0).max(4_294_967_295);

// What a peer answers may hold more than is known here: those fields are left out, not refused.

/** `{name, version?, parameters}` of one capability, as agreed. */
export const capabilityTermsSchema = z.object({
  name: capabilityName,
  version: z.string().max(64).optional(),
  parameters: agreedParameters.optional(),
});

/** The terms of an offer or an agreement; immutable, and the text that the digest is made of. */
export const termsSchema = z.object({
  initiator: agentId,
  responder: agentId,
  capabilities: z.array(capabilityTermsSchema).min(1).max(64),
  limits: z.object(agreementLimitFields).optional(),
  lease: z.object({ ttl_seconds: count, max_lifetime_seconds: count }),
});
export type Terms = z.output<typeof termsSchema>;
export type CapabilityTerms = z.output<typeof capabilityTermsSchema>;
export type AgreementLimits = NonNullable<Terms['limits']>;

export const agreementSchema = z.object({
  agreement_id: agreementId,
  session_id: sessionId,
  state: z.enum(AGREEMENT_STATES),
  terms: termsSchema,
  terms_digest: termsDigest,
  created_at: timestamp,
  expires_at: timestamp,
  /** Milliseconds left; present while pending. */
  confirm_within_ms: count.optional(),
  lease_revision: count.default(0),
  version: count.default(0),
  // A later version may know more reasons.
  end_reason: z.string().max(64).optional(),
  ended_at: timestamp.optional(),
  suspended_at: timestamp.optional(),
  via: z.string().max(64).optional(),
  calls_used: count.default(0),
});
/** An agreement as it travels; holds no secret. */
export type Agreement = z.output<typeof agreementSchema>;

// What a caller sends: unknown fields are refused.

export const confirmAgreementRequest = z.strictObject({ agreement_id: agreementId, terms_digest: termsDigest });
export type ConfirmAgreementRequest = z.output<typeof confirmAgreementRequest>;

export const renewAgreementRequest = z.strictObject({
  agreement_id: agreementId,
  lease_revision: count.default(0),
  terms_digest: termsDigest,
  agreement_ttl_seconds: z.int().min(1, 'at least 1').max(86_400, 'at most 86,400').optional(),
  state: z.enum(AGREEMENT_STATES).optional(),
});
export type RenewAgreementRequest = z.output<typeof renewAgreementRequest>;

export const endAgreementRequest = z.strictObject({
  agreement_id: agreementId,
  reason: z.enum(END_REASONS).optional(),
});
export type EndAgreementRequest = z.output<typeof endAgreementRequest>;

export const getAgreementRequest = z.strictObject({ agreement_id: agreementId });
export type GetAgreementRequest = z.output<typeof getAgreementRequest>;

export const listAgreementsRequest = z.strictObject({
  state: z.enum(AGREEMENT_STATES).optional(),
  agent_id: agentId.optional(),
  /** 1-1,000, default 100. */
  limit: z.int().min(1, 'at least 1').max(1_000, 'at most 1,000').optional(),
  cursor: plainText(256, 1).optional(),
});
export type ListAgreementsRequest = z.output<typeof listAgreementsRequest>;

/** `name`, or `capability/name`; a capability's name may hold a slash itself, so the last one splits. */
export const parameterKey = z
  .string()
  .max(129, 'at most 129 characters')
  .superRefine((key, context) => {
    const { capability, name } = splitParameterKey(key);
    const wrongName = parameterName.safeParse(name).error?.issues[0]?.message;
    if (wrongName !== undefined) context.addIssue({ code: 'custom', message: wrongName });
    else if (capability !== undefined && !capabilityName.safeParse(capability).success) {
      context.addIssue({ code: 'custom', message: 'what stands before the last "/" is not a capability name' });
    }
  });

export interface ParameterKey {
  /** Absent: every requested capability that declares the parameter. */
  readonly capability?: string;
  readonly name: string;
}

export function splitParameterKey(key: string): ParameterKey {
  const slash = key.lastIndexOf('/');
  return slash < 0 ? { name: key } : { capability: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Values by `name` or `capability/name`, at most 256. */
export const parameterMap = withoutProtoKey(
  z
    .record(safeKey.pipe(parameterKey), agreedScalar)
    .refine((map) => Object.keys(map).length <= 256, 'at most 256 parameters'),
);

export const invokeRequest = z.strictObject({
  agreement_id: agreementId,
  terms_digest: termsDigest,
  capability: capabilityName,
  call_id: callId,
  /** Any JSON object; its shape is the capability's. */
  input: z.record(z.string(), z.json()).default({}),
  /** Equal to what was agreed, or left out. */
  parameters: parameterMap.default({}),
});
export type InvokeRequest = z.output<typeof invokeRequest>;

export const proofHash = sha256Base64Url;
