import type { Terms } from '../wire/agreement.js';
import type { NegotiationReason } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';

export interface PolicyContext {
  /** Complete terms that would be agreed. */
  readonly terms: Terms;
  readonly authenticatedAgent?: string;
  /** Aborted when the answer would come too late. */
  readonly signal: AbortSignal;
}

export interface PolicyRefusal {
  readonly allow: false;
  readonly code: 'policy' | 'not_authorized' | 'capacity';
  /** Shown to the initiator as it is. Default: a fixed sentence. */
  readonly publicDetail?: string;
  /** Default: true for `capacity`, else false. */
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

export type PolicyVerdict = { readonly allow: true } | PolicyRefusal;

/** The request as the hook sees it: without the peer's free text, which decides nothing. */
export type PolicyRequest = Omit<NegotiationRequest, 'message'>;
export type NegotiationPolicy = (
  request: PolicyRequest,
  context: PolicyContext,
) => PolicyVerdict | Promise<PolicyVerdict>;

const SENTENCES = {
  policy: 'The responder does not agree to these terms.',
  not_authorized: 'The responder does not negotiate with this agent.',
  capacity: 'The responder has no place for another agreement now.',
} as const;

/** What the initiator is told of a refusal: nothing of the reasons behind it that the hook did not mean for others. */
export function refusalReason(refusal: PolicyRefusal): NegotiationReason {
  const { code, publicDetail, retryAfterMs } = refusal;
  return {
    code,
    detail: publicDetail ?? SENTENCES[code],
    retryable: refusal.retryable ?? code === 'capacity',
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.max(0, Math.round(retryAfterMs)) }),
    items: [],
  };
}
