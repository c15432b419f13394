import { satisfies } from 'semver';
import type { CapabilityDetail, ParameterSchema } from '../skill.js';
import type { ReasonItem } from '../wire/answers.js';
import { capabilityRequirement, type CapabilityRequirement } from '../wire/identifiers.js';

/** What an agent offers, by capability; a capability without anything to negotiate has an empty detail. */
export type OfferedCapabilities = ReadonlyMap<string, CapabilityDetail>;

/** A requested capability as it is offered. */
export interface MatchedCapability {
  readonly name: string;
  readonly version?: string;
  readonly parameters: ReadonlyMap<string, ParameterSchema>;
}

export type CapabilityMatch =
  | { readonly matched: readonly MatchedCapability[] }
  | { readonly code: 'capability_missing' | 'version_unsatisfied'; readonly items: readonly ReasonItem[] };

/** What a manifest offers: its list of names with the details beside it. */
export function offeredCapabilities(manifest: {
  readonly capabilities: readonly string[];
  readonly capability_details?: Readonly<Record<string, CapabilityDetail>>;
}): OfferedCapabilities {
  const details = new Map(Object.entries(manifest.capability_details ?? {}));
  return new Map(manifest.capabilities.map((name) => [name, details.get(name) ?? {}]));
}

/**
 * Finds every requested capability among the offered ones, or names all that are missing or of another version.
 * A name asked for more than once must satisfy all its ranges. Ranges as of npm's semver; a capability
 * without a version satisfies none.
 */
export function matchCapabilities(requested: readonly string[], offered: OfferedCapabilities): CapabilityMatch {
  const matched = new Map<string, MatchedCapability>();
  const items: ReasonItem[] = [];
  for (const text of requested) {
    const { name, range } = capabilityRequirement.parse(text);
    const detail = offered.get(name);
    const fault = capabilityFault({ name, ...(range === undefined ? {} : { range }) }, detail);
    if (fault !== undefined) items.push(fault);
    else if (!matched.has(name)) matched.set(name, toMatched(name, detail ?? {}));
  }
  if (items.length === 0) return { matched: [...matched.values()] };
  const missing = items.some((item) => item.code === 'capability_missing');
  return { code: missing ? 'capability_missing' : 'version_unsatisfied', items };
}

function capabilityFault(
  { name, range }: CapabilityRequirement,
  detail: CapabilityDetail | undefined,
): ReasonItem | undefined {
  if (detail === undefined) return { name, code: 'capability_missing', detail: 'not offered' };
  if (
    range === undefined ||
    (detail.version !== undefined && satisfies(detail.version, range, { includePrerelease: true }))
  )
    return undefined;
  const has = detail.version === undefined ? 'offered without a version' : `offered as ${detail.version}`;
  return { name, code: 'version_unsatisfied', detail: `${has}, asked for ${range}` };
}

function toMatched(name: string, { version, parameters }: CapabilityDetail): MatchedCapability {
  return { name, ...(version === undefined ? {} : { version }), parameters: new Map(Object.entries(parameters ?? {})) };
}
