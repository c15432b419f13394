import { setTimeout as sleep } from 'node:timers/promises';
import type { AgreedProxy, ProxyFinder } from './agreed-proxy.js';
import { ProxySearchFailed, type SearchFailure } from './proxy-search-failed.js';

export interface SearchOptions {
  readonly finder: Pick<ProxyFinder, 'find'>;
  /** Agents that are only asked if nobody else agrees. */
  readonly avoid: ReadonlySet<string>;
  readonly tries: number;
  readonly signal: AbortSignal;
  /** Before another try. */
  readonly onWait: (failure: ProxySearchFailed, waitMs: number) => void;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Default: of node:timers. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

/** Who else there is decides whether those that are avoided are asked after all. */
const IN_VAIN: ReadonlySet<SearchFailure> = new Set(['nobody_playable', 'all_taken', 'no_agreement']);

/** Searches, and again after a while, so often as it may. @throws ProxySearchFailed of the last try; the reason of the signal. */
export async function searchProxy(options: SearchOptions): Promise<AgreedProxy> {
  const { tries, signal, onWait, random, pause = sleepFor } = options;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryOnce(options);
    } catch (error) {
      if (!(error instanceof ProxySearchFailed) || attempt >= tries) throw error;
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + random() / 2);
      onWait(error, waitMs);
      await pause(waitMs, signal);
    }
  }
}

async function tryOnce({ finder, avoid, signal }: SearchOptions): Promise<AgreedProxy> {
  if (avoid.size === 0) return finder.find([], signal);
  try {
    return await finder.find([...avoid], signal);
  } catch (error) {
    if (!(error instanceof ProxySearchFailed) || !IN_VAIN.has(error.code)) throw error;
    return finder.find([], signal);
  }
}

async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}
