/** Metadata of a message: how many delegations led to it. */
export const HOPS_METADATA = 'urn:parley:hops';

/** The same as a header, or as gRPC metadata. */
export const HOPS_HEADER = 'parley-hops';

/** 0 for a message from outside; what is no count is taken for one, so that nobody gets round the limit by it. */
export function hopsOf(metadata: Readonly<Record<string, unknown>> | undefined): number {
  const value = metadata?.[HOPS_METADATA];
  if (value === undefined) return 0;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : Number.MAX_SAFE_INTEGER;
}
