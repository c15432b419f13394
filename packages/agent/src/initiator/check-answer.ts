import { satisfies } from 'semver';
import { digestTerms } from '../negotiation/terms-digest.js';
import type { Scalar } from '../skill.js';
import { splitParameterKey, type Terms } from '../wire/agreement.js';
import { capabilityRequirement } from '../wire/identifiers.js';
import type { NegotiationTarget, NegotiationWish } from './negotiation-types.js';

export interface TermsToCheck {
  readonly terms: Terms;
  readonly termsDigest: string;
  /** What the answer says it left out because no capability declares it. */
  readonly unsupported: readonly string[];
}

export interface Expected {
  /** The initiator's own id. */
  readonly self: string;
  readonly target: NegotiationTarget;
  readonly wish: NegotiationWish;
}

/** What is wrong with terms, whoever proposes them, in words; undefined when they are between us and about what was asked. */
export function termsFault(
  { terms, termsDigest, unsupported }: TermsToCheck,
  { self, target, wish }: Expected,
): string | undefined {
  if (terms.initiator !== self) return 'the terms name another initiator';
  if (target.agentId !== undefined && terms.responder !== target.agentId) return 'the terms name another responder';
  if (terms.responder === self) return 'the terms name the initiator as its own responder';
  if (digestTerms(terms) !== termsDigest) return 'the digest is not that of the terms';
  if (terms.lease.ttl_seconds < 1) return 'the lease has no length';
  const required = unsupported.find((key) => wish.requiredParameters?.includes(key));
  if (required !== undefined) return `the parameter ${required} is left out although it is required`;
  const silent = differences(terms, wish.parameters ?? {}).find(
    ({ key, given }) => given === undefined && !unsupported.includes(key),
  );
  if (silent !== undefined) return `the parameter ${silent.key} is left out without a word`;
  return capabilityFault(terms, wish) ?? limitsFault(terms, wish);
}

/** An acceptance takes the wish as it stands. */
export function acceptanceFault(terms: Terms, wish: NegotiationWish): string | undefined {
  const changed = differences(terms, wish.parameters ?? {}).find(({ given }) => given !== undefined);
  return changed === undefined ? undefined : `the parameter ${changed.key} was accepted with another value`;
}

function capabilityFault(terms: Terms, wish: NegotiationWish): string | undefined {
  const asked = wish.capabilities.map((text) => capabilityRequirement.parse(text));
  const names = terms.capabilities.map(({ name }) => name);
  if (new Set(names).size !== names.length) return 'a capability is named twice';
  const extra = names.find((name) => !asked.some((one) => one.name === name));
  if (extra !== undefined) return `the capability ${extra} was not asked for`;
  for (const { name, range } of asked) {
    const given = terms.capabilities.find((capability) => capability.name === name);
    if (given === undefined) return `the capability ${name} is missing`;
    if (range === undefined) continue;
    const inRange = given.version !== undefined && satisfies(given.version, range, { includePrerelease: true });
    if (!inRange) return `the version of ${name} is not within ${range}`;
  }
  return undefined;
}

/** Limits may be tighter than wished, never absent or wider: they bound what the initiator can be charged with. */
function limitsFault({ limits = {} }: Terms, wish: NegotiationWish): string | undefined {
  const wished = wish.limits ?? {};
  for (const name of ['max_calls', 'max_concurrent_calls'] as const) {
    const limit = wished[name];
    if (limit !== undefined && (limits[name] ?? Number.POSITIVE_INFINITY) > limit)
      return `the limit ${name} is wider than wished`;
  }
  return undefined;
}

/** A parameter that was asked for, and what the terms make of it. */
export interface ParameterDifference {
  /** As asked: `name` or `capability/name`. */
  readonly key: string;
  readonly asked: Scalar;
  /** Undefined: left out. */
  readonly given: Scalar | undefined;
}

/** Where terms differ from the wish. Values for parameters that were not asked for are the responder's defaults and no difference. */
export function differences(terms: Terms, parameters: Readonly<Record<string, Scalar>>): ParameterDifference[] {
  const found: ParameterDifference[] = [];
  for (const [key, asked] of Object.entries(parameters)) {
    const { capability, name } = splitParameterKey(key);
    const specialised = (of: string): boolean => capability === undefined && Object.hasOwn(parameters, `${of}/${name}`);
    const given = terms.capabilities
      .filter((one) => (capability === undefined ? !specialised(one.name) : one.name === capability))
      .map((one) => own(one.parameters, name))
      .filter((value) => value !== undefined);
    if (given.length === 0) {
      const coveredElsewhere = capability === undefined && terms.capabilities.some((one) => specialised(one.name));
      if (!coveredElsewhere) found.push({ key, asked, given: undefined });
      continue;
    }
    for (const value of given) if (value !== asked) found.push({ key, asked, given: value });
  }
  return found;
}

function own(parameters: Readonly<Record<string, Scalar>> | undefined, name: string): Scalar | undefined {
  return parameters !== undefined && Object.hasOwn(parameters, name) ? parameters[name] : undefined;
}

/** All agreed values: by plain name where every capability that has the parameter agrees, else by `capability/name`. */
export function flattenTerms({ capabilities }: Terms): Record<string, Scalar> {
  const entries = capabilities.flatMap(({ name: capability, parameters = {} }) =>
    Object.entries(parameters).map(([name, value]) => ({ capability, name, value })),
  );
  const flat = entries.map(({ capability, name, value }): [string, Scalar] => {
    const shared = entries.every((other) => other.name !== name || other.value === value);
    return [shared ? name : `${capability}/${name}`, value];
  });
  return Object.fromEntries(flat);
}
