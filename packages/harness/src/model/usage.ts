/** Tokens of one request. `null` means that the provider did not say: unknown is not zero. */
export interface ModelUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
}

/**
 * Sums over the requests of a run that reported. A counter that one report lacks is unknown from then on; a request
 * without a report leaves the sums as they are and shows as `requestCount > reportedRequestCount`. A run without
 * requests has 0 tokens, and no cache or reasoning counters.
 */
export interface RunUsage extends ModelUsage {
  readonly requestCount: number;
  readonly reportedRequestCount: number;
}
