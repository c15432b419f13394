import type { Scalar } from '../skill.js';
import type { Terms } from '../wire/agreement.js';
import type { NegotiationReason, NegotiationReasonCode, ReasonItem } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import { buildTerms, type TermBounds } from './build-terms.js';
import { matchCapabilities, type MatchedCapability, type OfferedCapabilities } from './match-capabilities.js';
import { refusalReason, type PolicyVerdict } from './policy.js';
import { declaredKeys, flattenParameters, resolveParameters, undeclaredKeys } from './resolve-parameters.js';
import { digestTerms } from './terms-digest.js';

/** Everything a decision on terms depends on beside the request. */
export interface TermFacts {
  readonly responder: string;
  readonly offered: OfferedCapabilities;
  readonly bounds: TermBounds;
}

export interface ProposedTerms {
  readonly terms: Terms;
  readonly termsDigest: string;
  /** The values of the terms by `name` or `capability/name`. */
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly unsupported: readonly string[];
}

export interface Declined {
  readonly outcome: 'declined';
  readonly reason: NegotiationReason;
  /** False: the initiator may ask again, the session stays as it was. */
  readonly spendsRound: boolean;
  readonly unsupported: readonly string[];
}

export interface Countered extends ProposedTerms {
  readonly outcome: 'countered';
  readonly reason: NegotiationReason;
}

export interface Accepted extends ProposedTerms {
  readonly outcome: 'accepted';
}

export type Decision = Declined | Countered | Accepted;

/**
 * The first three steps of a decision: capabilities and versions, then parameters. Depends on nothing but its
 * arguments, and on no free text. `accepted` here still needs {@link admit}.
 */
export function judgeTerms(request: NegotiationRequest, facts: TermFacts): Decision {
  const match = matchCapabilities(request.capabilities, facts.offered);
  if ('code' in match) return declined(match.code, 'Not everything that was asked for is offered.', match.items);
  const { matched } = match;
  const unknown = undeclaredKeys(matched, request.required_parameters);
  if (unknown.length > 0) return unsupportedParameters(matched, unknown);

  const { values, changed, missing, impossible, unsupported } = resolveParameters(matched, request.parameters);
  if (missing.length > 0) return declined('parameter_required', 'Parameters are missing.', missing, unsupported);
  if (impossible.length > 0) {
    return declined('parameter_not_allowed', 'Parameters are not allowed.', impossible, unsupported);
  }
  const terms = buildTerms(request, facts.responder, matched, values, facts.bounds);
  const proposed = {
    terms,
    termsDigest: digestTerms(terms),
    parameters: flattenParameters(matched, values),
    unsupported,
  };
  if (changed.length === 0) return { outcome: 'accepted', ...proposed };
  const reason = reasonOf(
    'parameter_not_allowed',
    'Some values are not allowed; the nearest ones are offered.',
    changed,
  );
  return { outcome: 'countered', reason, ...proposed };
}

/** The fourth step, for terms that are acceptable in themselves. */
export interface Admission {
  readonly hasCapacity: boolean;
  /** Absent: no policy. */
  readonly policy?: PolicyVerdict;
}

/** Whether there is a place for an agreement on these terms, and the policy wants it. */
export function admit(accepted: Accepted, admission: Admission): Accepted | Declined {
  const refusal: PolicyVerdict = admission.hasCapacity
    ? (admission.policy ?? { allow: true })
    : { allow: false, code: 'capacity' };
  if (refusal.allow) return accepted;
  const reason = refusalReason(refusal);
  // What may be answered otherwise next time is neither remembered nor counted.
  return { outcome: 'declined', reason, spendsRound: !reason.retryable, unsupported: accepted.unsupported };
}

/** The whole decision in its order: capabilities, parameters, capacity, policy. */
export function decide(request: NegotiationRequest, facts: TermFacts & Admission): Decision {
  const judged = judgeTerms(request, facts);
  return judged.outcome === 'accepted' ? admit(judged, facts) : judged;
}

export function reasonOf(
  code: NegotiationReasonCode,
  detail: string,
  items: readonly ReasonItem[] = [],
): NegotiationReason {
  return { code, detail, retryable: false, items: [...items] };
}

function declined(
  code: NegotiationReasonCode,
  detail: string,
  items: readonly ReasonItem[],
  unsupported: readonly string[] = [],
): Declined {
  return { outcome: 'declined', reason: reasonOf(code, detail, items), spendsRound: true, unsupported };
}

const MAX_KEYS_SHOWN = 64;

function unsupportedParameters(matched: readonly MatchedCapability[], unknown: readonly string[]): Declined {
  const valid = declaredKeys(matched);
  const shown = valid.slice(0, MAX_KEYS_SHOWN).join(', ');
  const more = valid.length > MAX_KEYS_SHOWN ? ` and ${String(valid.length - MAX_KEYS_SHOWN)} more` : '';
  const detail = valid.length === 0 ? 'No parameter is declared.' : `Declared are ${shown}${more}.`;
  const items = unknown.map((name) => ({ name, code: 'parameter_unsupported', detail: 'not declared' }));
  return {
    outcome: 'declined',
    reason: reasonOf('parameter_unsupported', detail, items),
    spendsRound: false,
    unsupported: unknown,
  };
}
