import type { AgreementLimits, Terms } from '../wire/agreement.js';
import { parameterFault } from '../wire/manifest.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import type { MatchedCapability, OfferedCapabilities } from './match-capabilities.js';
import type { CapabilityValues } from './resolve-parameters.js';
import { normalTerms } from './terms-digest.js';

/** The responder's bounds for what an initiator may wish. */
export interface TermBounds {
  readonly agreementTtlSeconds: number;
  readonly minTtlSeconds: number;
  readonly maxTtlSeconds: number;
  readonly maxLifetimeSeconds: number;
  readonly maxCalls?: number;
  readonly maxConcurrentCalls?: number;
}

/** Complete terms from what was asked and settled; wishes for lease and limits are moved into the bounds. */
export function buildTerms(
  request: Pick<NegotiationRequest, 'agent_id' | 'agreement_ttl_seconds' | 'limits'>,
  responder: string,
  capabilities: readonly MatchedCapability[],
  values: CapabilityValues,
  bounds: TermBounds,
): Terms {
  const wish = request.agreement_ttl_seconds ?? bounds.agreementTtlSeconds;
  return normalTerms({
    initiator: request.agent_id,
    responder,
    capabilities: capabilities.map(({ name, version }) => ({
      name,
      ...(version === undefined ? {} : { version }),
      parameters: Object.fromEntries(values.get(name) ?? []),
    })),
    limits: boundLimits(request.limits ?? {}, bounds),
    lease: {
      ttl_seconds: Math.min(Math.max(wish, bounds.minTtlSeconds), bounds.maxTtlSeconds, bounds.maxLifetimeSeconds),
      max_lifetime_seconds: bounds.maxLifetimeSeconds,
    },
  });
}

function boundLimits(wished: NonNullable<NegotiationRequest['limits']>, bounds: TermBounds): AgreementLimits {
  return {
    max_calls: smaller(wished.max_calls, bounds.maxCalls),
    max_concurrent_calls: smaller(wished.max_concurrent_calls, bounds.maxConcurrentCalls),
  };
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** Whether all that was agreed is still offered: the pinned versions, and every value still allowed. */
export function termsHold(terms: Terms, offered: OfferedCapabilities): boolean {
  return terms.capabilities.every(({ name, version, parameters }) => {
    const detail = offered.get(name);
    if (detail === undefined || detail.version !== version) return false;
    const schemas = new Map(Object.entries(detail.parameters ?? {}));
    const agreed = new Map(Object.entries(parameters ?? {}));
    for (const [parameter, value] of agreed) {
      const schema = schemas.get(parameter);
      if (schema === undefined || parameterFault(schema, value) !== undefined) return false;
    }
    return [...schemas].every(([parameter, schema]) => schema.required !== true || agreed.has(parameter));
  });
}
