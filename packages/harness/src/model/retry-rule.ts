import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelProviderError } from './model-errors.js';

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

export interface RetryRule {
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
  readonly random: () => number;
}

/**
 * How long to wait before a request is sent again, or undefined if it is not: it failed for good, often enough, or the
 * server wants to be left alone for longer than the rule allows, so that asking earlier would be in vain.
 *
 * @param retries - How often it was sent again already.
 */
export function retryDelay(error: ModelProviderError, retries: number, rule: RetryRule): number | undefined {
  if (!error.transient || retries >= rule.maxRetries) return undefined;
  const backoff = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retries);
  // Half of it is jitter, so that callers who failed together do not come back together.
  const jittered = backoff * (0.5 + rule.random() / 2);
  if (error.retryAfterMs === undefined) return jittered;
  return error.retryAfterMs > rule.maxRetryAfterMs ? undefined : Math.max(error.retryAfterMs, 0);
}

/** Reads `retry-after-ms`, else `retry-after` in seconds or as a date. */
export function readRetryAfter(headers: { get(name: string): string | null }, now: number): number | undefined {
  const exact = numberIn(headers.get('retry-after-ms'));
  if (exact !== undefined) return exact;
  const text = headers.get('retry-after');
  const seconds = numberIn(text);
  if (seconds !== undefined) return seconds * 1000;
  // The runtime's parser takes odd numbers for years.
  const date = text === null || !/[A-Z][a-z]{2}/u.test(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/u.test(text) ? Number(text) : undefined;
}

/** The default wait: rejects with an AbortError when the signal is aborted, and leaves no listener behind. */
export async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
