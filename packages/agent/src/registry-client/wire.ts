import { z } from 'zod';
import type { AgreementLimits } from '../wire/agreement.js';
import { agreementSchema } from '../wire/agreement.js';
import { negotiationResponse } from '../wire/answers.js';
import { agentId, endpointUrl } from '../wire/identifiers.js';
import type { NegotiationInput } from '../wire/negotiation.js';
import type { CapabilityDetail } from '../skill.js';

// Answers of a registry, which may be newer than this code: what is not known is left out, never refused.

const time = z.string().max(64);
const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const leaseSchema = z.object({
  ttl_seconds: z.number().positive(),
  expires_at: time,
  /** How often to renew: a third of the lease. */
  renew_every_seconds: z.number().positive(),
});
export type Lease = z.output<typeof leaseSchema>;

const parameterSchema = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean']),
  enum: z.array(scalar).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  default: scalar.optional(),
  required: z.boolean().optional(),
  description: z.string().optional(),
});

const detailSchema = z
  .object({
    version: z.string().optional(),
    description: z.string().optional(),
    parameters: z.record(z.string(), parameterSchema).optional(),
  })
  // JSON never holds `undefined`, so absent and optional are the same here.
  .transform((detail) => detail as CapabilityDetail);

/** A manifest as the registry answers it, with its lease. */
export const registeredAgent = z.object({
  agent_id: agentId,
  name: z.string(),
  endpoint: endpointUrl,
  capabilities: z.array(z.string()),
  capability_details: z.record(z.string(), detailSchema).optional(),
  version: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  interfaces: z.array(z.object({ protocol: z.string(), version: z.string().default(''), url: z.string() })).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  lease: leaseSchema.optional(),
  /** Position of the registration in the change log. */
  revision: z.number().default(0),
  registered_at: time.optional(),
});
export type RegisteredAgent = z.output<typeof registeredAgent>;

export const registerResponse = z.object({
  agent_id: agentId,
  /** Absent when the caller brought its own. */
  owner_token: z.string().min(1).max(512).optional(),
  lease: leaseSchema,
  revision: z.number().default(0),
  replaced: z.boolean().default(false),
});
export type RegisterResponse = z.output<typeof registerResponse>;

export const renewLeaseResponse = z.object({ lease: leaseSchema });

const nearMiss = z.object({
  agent_id: agentId,
  missing: z.array(z.string()).default([]),
  version_conflicts: z.array(z.string()).default([]),
  labels: z.array(z.string()).default([]),
});

export const discoveryResponse = z.object({
  agents: z.array(registeredAgent).default([]),
  next_cursor: z.string().optional(),
  near_misses: z.array(nearMiss).optional(),
  /** Set while the registry's store cannot be reached and the answer comes from memory. */
  stale_since: time.optional(),
});
export type DiscoveryResponse = z.output<typeof discoveryResponse>;

export const listAgentsResponse = z.object({
  agents: z.array(registeredAgent).default([]),
  next_cursor: z.string().optional(),
  stale_since: time.optional(),
  /** All living agents, not only this page. */
  total: z.number().default(0),
});
export type ListAgentsResponse = z.output<typeof listAgentsResponse>;

export interface GetAgentResponse {
  readonly agent: RegisteredAgent;
  readonly stale_since?: string | undefined;
}
export const getAgentResponse: z.ZodType<GetAgentResponse> = z.object({
  agent: registeredAgent,
  stale_since: time.optional(),
});

export const watchEvent = z.object({
  /** snapshot, registered, updated, expired, deregistered, agreed, suspended, resumed, ended, resync; others may come. */
  type: z.string().max(64),
  revision: z.number().default(0),
  at: time.optional(),
  agent_id: z.string().optional(),
  agent: registeredAgent.optional(),
  agreement: agreementSchema.optional(),
  agents: z.array(registeredAgent).optional(),
  complete: z.boolean().optional(),
  reason: z.string().optional(),
});
export type WatchEvent = z.output<typeof watchEvent>;

export const reportAgreementResponse = z.object({
  agreement_id: z.string(),
  /** False when a newer version was known already. */
  recorded: z.boolean().default(false),
});
export type ReportAgreementResponse = z.output<typeof reportAgreementResponse>;

/** Only `propose`: everything after the answer goes to the responder directly. */
export interface BrokerNegotiationRequest extends Pick<
  NegotiationInput,
  'session_id' | 'agent_id' | 'parameters' | 'required_parameters' | 'proof_hash' | 'agreement_ttl_seconds'
> {
  readonly capabilities: string[];
  readonly deadline_ms?: number | undefined;
  readonly max_rounds?: number | undefined;
  readonly limits?: AgreementLimits | undefined;
  readonly message?: string | undefined;
  /** Only this agent is asked. */
  readonly target_agent_id?: string | undefined;
  readonly strategy?: 'first' | undefined;
  /** 1-8, default 8. */
  readonly max_candidates?: number | undefined;
  /** 1-15,000, default 2,000. */
  readonly candidate_timeout_ms?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly exclude?: readonly string[] | undefined;
}

export const ATTEMPT_OUTCOMES = [
  'accepted',
  'countered',
  'declined',
  'timeout',
  'unreachable',
  'invalid_answer',
  'target_refused',
  'withdrawn',
  'error',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** One candidate that was asked, and what came of it; silence is `timeout`, never a refusal. */
export interface NegotiationAttempt {
  readonly agent_id: string;
  readonly outcome: AttemptOutcome;
  readonly duration_ms: number;
  readonly reason?: string | undefined;
}

const attempt: z.ZodType<NegotiationAttempt> = z.object({
  agent_id: z.string().max(2_048),
  outcome: z.enum(ATTEMPT_OUTCOMES).catch('invalid_answer'),
  duration_ms: z.number().default(0),
  reason: z.string().max(4_096).optional(),
});

export const brokerNegotiationResponse = z.intersection(
  negotiationResponse,
  z.object({
    /** Who answered; confirm, renew, end and calls go to its endpoint. */
    responder: z.object({ agent_id: agentId, endpoint: endpointUrl }).optional(),
    attempts: z.array(attempt).max(64).default([]),
  }),
);
export type BrokerNegotiationResponse = z.output<typeof brokerNegotiationResponse>;
