import { setTimeout as sleep } from 'node:timers/promises';
import { onTestsEnd } from '@parley/testkit';
import { get } from './http.js';

export interface Presence {
  /** Answers so far, by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Answers in which somebody was missing: who, and how long after the start. */
  readonly gaps: readonly string[];
  /** How many answers said that they were stale, in body and header. */
  readonly stale: number;
  /** The longest that an answer took. */
  readonly slowestMs: number;
  stop(): Promise<void>;
}

const PAUSE_MS = 25;

/** Asks again and again who offers a capability, and notes each answer that lacks one of the agents. */
export function observePresence(registryUrl: string, capability: string, ids: readonly string[]): Presence {
  const since = performance.now();
  const statuses = new Map<number, number>();
  const gaps: string[] = [];
  let stale = 0;
  let slowestMs = 0;
  const stopping = new AbortController();
  const look = async () => {
    const { status, body, headers, ms } = await get(`${registryUrl}/discover?capabilities=${capability}&limit=1000`);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    slowestMs = Math.max(slowestMs, ms);
    if (status !== 200) return;
    const present = new Set((body.agents as { agent_id: string }[]).map(({ agent_id }) => agent_id));
    const missing = ids.filter((id) => !present.has(id));
    const after = `after ${(performance.now() - since).toFixed(0)} ms`;
    if (missing.length > 0) gaps.push(`${after}: ${missing.join(', ')}`);
    const says = [body.stale_since !== undefined, headers.get('warning')?.startsWith('110 ') === true];
    if (says[0] !== says[1]) gaps.push(`${after}: header and body do not agree on being stale`);
    if (says[0] === true) stale += 1;
  };
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await sleep(PAUSE_MS);
    }
  })();
  // Its failure is told by stop().
  watching.catch(() => undefined);
  const stop = async () => {
    forget();
    stopping.abort();
    await watching;
  };
  const forget = onTestsEnd(() => {
    stopping.abort();
  });
  return {
    statuses,
    gaps,
    get stale() {
      return stale;
    },
    get slowestMs() {
      return slowestMs;
    },
    stop,
  };
}
