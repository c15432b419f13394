import type { Scalar } from '../skill.js';
import type { Offer } from '../wire/answers.js';
import { differences } from './check-answer.js';
import type { AcceptableValue, CounterRules, CounterVerdict, NegotiationWish } from './negotiation-types.js';

/** Decides by code alone: what the peer wrote as text has no say. */
export function judgeCounter(offer: Offer, wish: NegotiationWish, rules: CounterRules): CounterVerdict {
  if (rules.acceptCounter !== undefined) return rules.acceptCounter(offer, wish);
  if (rules.acceptCounters === true) return true;
  const { acceptable = {} } = rules;
  return differences(offer.terms, wish.parameters ?? {}).every(({ key, given }) => {
    // Left out and named, as in an acceptance; who needs the parameter says so with `requiredParameters`.
    if (given === undefined) return true;
    const rule = Object.hasOwn(acceptable, key) ? acceptable[key] : undefined;
    return rule !== undefined && isWelcome(given, rule);
  });
}

function isWelcome(value: Scalar, rule: AcceptableValue): boolean {
  if (rule.oneOf !== undefined) return rule.oneOf.includes(value);
  if (rule.minimum === undefined && rule.maximum === undefined) return false;
  if (typeof value !== 'number') return false;
  return value >= (rule.minimum ?? Number.NEGATIVE_INFINITY) && value <= (rule.maximum ?? Number.POSITIVE_INFINITY);
}
