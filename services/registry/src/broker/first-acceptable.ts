import type { Attempt } from './attempt.js';
import type { Candidate } from './candidates.js';

export interface FirstAcceptableOptions {
  readonly candidates: readonly Candidate[];
  /** How long one candidate is waited for before the next one is asked as well. */
  readonly hedgeMs: number;
  readonly signal: AbortSignal;
  readonly ask: (candidate: Candidate, signal: AbortSignal) => Promise<Attempt>;
  readonly satisfies: (attempt: Attempt) => boolean;
}

export interface FirstAcceptable {
  /** Who accepted; else whose counter came first; else nobody. */
  readonly winner: Attempt | undefined;
  readonly attempts: readonly Attempt[];
  /** Whoever may still hold an offer or a place for this session. */
  readonly losers: readonly Candidate[];
}

/**
 * Asks one after the other, the next one also when the one before is slow. The first acceptance wins and ends
 * what is still under way. A counter that does not satisfy is kept: it is the answer when nobody accepts.
 */
export async function firstAcceptable(options: FirstAcceptableOptions): Promise<FirstAcceptable> {
  const attempts: Attempt[] = [];
  const pending = new Map<Candidate, Promise<Attempt>>();
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const waiting = [...options.candidates];
  let winner: Attempt | undefined;
  while (winner === undefined && !options.signal.aborted) {
    const next = waiting.shift();
    if (next !== undefined) pending.set(next, options.ask(next, signal));
    else if (pending.size === 0) break;
    const settled = await raceWithHedge([...pending.values()], waiting.length > 0 ? options.hedgeMs : undefined);
    if (settled === undefined) continue;
    pending.delete(settled.candidate);
    attempts.push(settled);
    if (settled.outcome === 'accepted' || options.satisfies(settled)) winner = settled;
  }
  stop.abort();
  for (const attempt of await Promise.all(pending.values())) attempts.push(attempt);
  winner ??=
    attempts.find(({ outcome }) => outcome === 'accepted') ?? attempts.find(({ outcome }) => outcome === 'countered');
  const losers = attempts
    .filter((attempt) => attempt !== winner && mayHoldSomething(attempt))
    .map(({ candidate }) => candidate);
  return { winner, attempts, losers };
}

function mayHoldSomething({ outcome }: Attempt): boolean {
  return outcome === 'accepted' || outcome === 'countered' || outcome === 'timeout' || outcome === 'withdrawn';
}

async function raceWithHedge(
  pending: readonly Promise<Attempt>[],
  hedgeMs: number | undefined,
): Promise<Attempt | undefined> {
  if (hedgeMs === undefined) return Promise.race(pending);
  let timer: NodeJS.Timeout | undefined;
  const hedge = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, hedgeMs);
  });
  try {
    return await Promise.race([...pending, hedge]);
  } finally {
    clearTimeout(timer);
  }
}
