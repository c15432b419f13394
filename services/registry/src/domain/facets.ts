import type { CapabilityTerm, CapabilityTerms } from './capability-term.js';
import type { Manifest } from './types.js';

export interface Facets {
  readonly terms: readonly CapabilityTerm[];
  readonly versions: readonly (string | undefined)[] | undefined;
  readonly labels: readonly string[] | undefined;
}

/** What of a manifest is searched for, as few and as shared objects as possible. */
export function facetsOf(manifest: Manifest, terms: CapabilityTerms): Facets {
  const details = manifest.capabilityDetails;
  const names = [...new Set(manifest.capabilities)];
  const versions = details === undefined ? undefined : names.map((name) => share(ownVersion(details, name)));
  const labels = Object.entries(manifest.labels ?? {}).flatMap(([name, value]) => [share(name), share(value)]);
  return {
    terms: names.map((name) => terms.ensure(name)),
    versions: versions?.some((version) => version !== undefined) === true ? versions : undefined,
    labels: labels.length === 0 ? undefined : labels,
  };
}

function ownVersion(
  details: Readonly<Record<string, { readonly version?: string }>>,
  name: string,
): string | undefined {
  return Object.hasOwn(details, name) ? details[name]?.version : undefined;
}

const MAX_SHARED = 10_000;
const shared = new Map<string, string>();

/** Versions, label names and most label values repeat: one string serves all who have it. */
function share<T extends string | undefined>(text: T): T {
  if (text === undefined) return text;
  const found = shared.get(text);
  if (found !== undefined) return found as T;
  if (shared.size < MAX_SHARED) shared.set(text, text);
  return text;
}
