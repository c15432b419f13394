import { z } from 'zod';
import type { PeerHttp } from '../peer/peer-http.js';
import {
  agreementSchema,
  withoutProtoKey,
  agreedScalar,
  type Agreement,
  type InvokeRequest,
} from '../wire/agreement.js';
import { negotiationResponse, type NegotiationResponse } from '../wire/answers.js';
import { termsDigest } from '../wire/identifiers.js';
import type { NegotiationInput } from '../wire/negotiation.js';

export interface ResponderCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Where an agreement is kept, and the secret that makes the caller its party. */
export interface AgreementRef {
  readonly endpoint: string;
  readonly agreementId: string;
  readonly termsDigest: string;
  readonly proof: string;
}

export interface RenewalView {
  readonly leaseRevision: number;
  readonly ttlSeconds?: number | undefined;
  readonly state?: 'active' | 'suspended';
}

export interface InvokeCall extends ResponderCall {
  readonly maxAnswerBytes: number;
}

/** What an initiator asks of a responder. Every method throws AppError. */
export interface ResponderClient {
  negotiate(
    endpoint: string,
    request: NegotiationInput,
    call: ResponderCall & { readonly proof?: string },
  ): Promise<NegotiationResponse>;
  confirm(agreement: AgreementRef, call: ResponderCall): Promise<Agreement>;
  renew(agreement: AgreementRef, view: RenewalView, call: ResponderCall): Promise<Agreement>;
  get(agreement: AgreementRef, call: ResponderCall): Promise<Agreement>;
  end(agreement: AgreementRef, reason: string, call: ResponderCall): Promise<Agreement>;
  invoke(agreement: AgreementRef, request: InvokeRequest, call: InvokeCall): Promise<InvokeResponse>;
}

export const invokeResponse = z.object({
  call_id: z.string(),
  capability: z.string(),
  output: z.record(z.string(), z.unknown()).default({}),
  /** The parameters the work was done with. */
  applied: withoutProtoKey(z.record(z.string(), agreedScalar)).default({}),
  terms_digest: termsDigest,
  remaining: z.object({ calls: z.int().min(0).optional() }).optional(),
});
export type InvokeResponse = z.output<typeof invokeResponse>;

/** In the envelope of the contract, or bare. */
const agreementAnswer: z.ZodType<Agreement> = z.union([
  z.object({ agreement: agreementSchema }).transform(({ agreement }): Agreement => agreement),
  agreementSchema,
]);

const PROOF_HEADER = 'parley-agreement-proof';

/** Responders over HTTP. */
export function httpResponderClient(http: PeerHttp): ResponderClient {
  const onAgreement = async (
    method: 'GET' | 'PUT' | 'DELETE',
    { endpoint, agreementId, proof }: AgreementRef,
    tail: string,
    body: object | undefined,
    call: ResponderCall,
  ): Promise<Agreement> => {
    const answer = await http.request({
      method,
      url: `${base(endpoint)}/agreements/${encodeURIComponent(agreementId)}${tail}`,
      headers: { [PROOF_HEADER]: proof },
      schema: agreementAnswer,
      ...call,
      ...(body === undefined ? {} : { body }),
    });
    return answer.body;
  };
  return {
    negotiate: async (endpoint, request, { proof, ...call }) => {
      const answer = await http.request({
        method: 'POST',
        url: `${base(endpoint)}/negotiate`,
        body: request,
        schema: negotiationResponse,
        // A session names itself: the same request gets the same answer.
        repeatable: true,
        ...call,
        ...(proof === undefined ? {} : { headers: { [PROOF_HEADER]: proof } }),
      });
      return answer.body;
    },
    confirm: (agreement, call) =>
      onAgreement('PUT', agreement, '/confirm', { terms_digest: agreement.termsDigest }, call),
    renew: (agreement, { leaseRevision, ttlSeconds, state }, call) => {
      const body = {
        lease_revision: leaseRevision,
        terms_digest: agreement.termsDigest,
        agreement_ttl_seconds: ttlSeconds,
        state,
      };
      return onAgreement('PUT', agreement, '', body, call);
    },
    get: (agreement, call) => onAgreement('GET', agreement, '', undefined, call),
    end: (agreement, reason, call) =>
      onAgreement('DELETE', agreement, `?${new URLSearchParams({ reason }).toString()}`, undefined, call),
    invoke: async ({ endpoint, proof }, request, call) => {
      const answer = await http.request({
        method: 'POST',
        url: `${base(endpoint)}/invoke`,
        body: request,
        headers: { [PROOF_HEADER]: proof },
        schema: invokeResponse,
        // The call id makes it count, and run, once.
        repeatable: true,
        ...call,
      });
      return answer.body;
    },
  };
}

/** An endpoint may have a path and a trailing slash. */
function base(endpoint: string): string {
  return endpoint.replace(/\/+$/u, '');
}
