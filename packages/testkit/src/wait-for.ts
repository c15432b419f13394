import { setTimeout as sleep } from 'node:timers/promises';

/** How long and how often a condition is looked at. */
export interface WaitOptions {
  /** Give up after this long. Default 5,000 ms. */
  readonly timeoutMs?: number;
  /** Pause between two looks. Default 25 ms. */
  readonly intervalMs?: number;
  /** What is waited for, named in the error. */
  readonly what?: string;
}

/**
 * Runs `attempt` until it neither throws nor rejects, and returns its value: for assertions about
 * something that becomes true.
 * @throws Error with the last failure as its `cause` when the time is over, even if an attempt never settles.
 */
export async function eventually<T>(attempt: () => T | Promise<T>, options: WaitOptions = {}): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 5_000;
  const deadline = performance.now() + timeoutMs;
  const limit = new AbortController();
  let last: unknown = new Error('the first attempt had not settled');
  try {
    const expired = sleep(timeoutMs, undefined, { signal: limit.signal }).then(
      () => 'expired' as const,
      () => 'expired' as const,
    );
    for (;;) {
      const outcome = await Promise.race([settle(attempt), expired]);
      if (outcome === 'expired') throw timedOut(timeoutMs, options.what, last);
      if (outcome.ok) return outcome.value;
      last = outcome.error;
      if (performance.now() >= deadline) throw timedOut(timeoutMs, options.what, last);
      await sleep(options.intervalMs ?? 25);
    }
  } finally {
    limit.abort();
  }
}

/**
 * Runs `condition` until it gives something truthy, and returns that. A throwing condition counts as not yet.
 * @throws Error as {@link eventually} does.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  return eventually(async () => {
    const value = await condition();
    if (!value) throw new Error(`the condition gave ${value === undefined ? 'undefined' : JSON.stringify(value)}`);
    return value as Exclude<T, false | null | undefined | 0 | ''>;
  }, options);
}

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

async function settle<T>(attempt: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await attempt() };
  } catch (error) {
    return { ok: false, error };
  }
}

function timedOut(timeoutMs: number, what: string | undefined, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`waited ${String(timeoutMs)} ms for ${what ?? 'a condition'}; last: ${reason}`, { cause });
}
