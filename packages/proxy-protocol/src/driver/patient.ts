import { ProxyFailed, ProxyUnreachable } from '../client/client-errors.js';
import { pause } from '../client/proxy-http.js';
import { backoffMs } from './backoff.js';

export interface Patience {
  /** How long a proxy that is away is waited for, in milliseconds. */
  readonly patienceMs: number;
  readonly random: () => number;
}

/** Away, as during a restart. A 502 is not it: a proxy says so of a server of tools. */
function isAway(error: unknown): boolean {
  return error instanceof ProxyUnreachable || (error instanceof ProxyFailed && [503, 504].includes(error.status));
}

/**
 * Makes a call that may be repeated until the proxy is there again.
 *
 * @throws what the call throws, when the time is over or it is about something else.
 */
export async function patiently<T>(
  call: (isAgain: boolean) => Promise<T>,
  signal: AbortSignal,
  { patienceMs, random }: Patience,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (let failures = 0; ;) {
    try {
      return await call(failures > 0);
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error;
      failures += 1;
      await pause(backoffMs(failures, random), signal);
    }
  }
}
