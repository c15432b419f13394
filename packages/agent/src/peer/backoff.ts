export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
  /** 0 (included) to 1 (excluded), as `Math.random`. */
  readonly random: () => number;
}

/**
 * Exponential backoff with full jitter: attempt 0 waits up to `baseMs`, each later one up to twice as long, up to `capMs`.
 * Never less than a tenth of that, so that a row of small draws does not become a busy loop.
 */
export function backoffMs(attempt: number, options: BackoffOptions): number {
  const ceiling = Math.min(options.capMs, options.baseMs * 2 ** Math.min(attempt, 30));
  return ceiling / 10 + options.random() * ceiling * 0.9;
}

/** A value up to `share` (0.1: ten percent) above or below. */
export function jitter(value: number, share: number, random: () => number): number {
  return value * (1 - share + 2 * share * random());
}
