import { deadline } from '../peer/deadline.js';
import { MAX_TIMER_MS, wait } from '../peer/wait.js';
import type { NegotiationAttempt } from '../registry-client/wire.js';
import { negotiateWith, type NegotiatorDeps } from './negotiate-with.js';
import { NegotiationFailed } from './negotiation-failed.js';
import type { CounterRules, NegotiationResult, NegotiationWish } from './negotiation-types.js';
import { inWords } from './outcome-words.js';
import type { PenaltyBox } from './penalty-box.js';

export interface Candidate {
  readonly agentId: string;
  readonly endpoint: string;
}

export interface NegotiateFirstOptions extends CounterRules {
  readonly signal: AbortSignal;
  /** Agent ids that are asked first, in this order. */
  readonly prefer?: readonly string[];
  /** For one candidate, confirmation included. */
  readonly candidateTimeoutMs: number;
  /** The next candidate is also asked when the one before has not answered for so long. */
  readonly hedgeMs: number;
  /** At most so many are asked. */
  readonly maxCandidates: number;
  /** For all of them together. */
  readonly totalMs: number;
  readonly maxRounds: number;
}

export type Accepted = Extract<NegotiationResult, { accepted: true }> & {
  readonly attempts: readonly NegotiationAttempt[];
};

interface Attempt {
  readonly candidate: Candidate;
  readonly startedAt: number;
  result?: NegotiationResult;
}

/**
 * Asks candidates in random order, those that were silent lately last, until one agreement stands. Everybody else who
 * was asked gets a `withdraw`.
 * @throws NegotiationFailed when nobody is left, or the time is over.
 */
export async function negotiateFirst(
  deps: NegotiatorDeps,
  candidates: readonly Candidate[],
  wish: NegotiationWish,
  options: NegotiateFirstOptions,
  penalties: PenaltyBox,
): Promise<Accepted> {
  const limit = deadline(options.totalMs, options.signal);
  const race = new AbortController();
  const signal = AbortSignal.any([limit.signal, race.signal]);
  const order = preferredFirst(penalties.order(shuffle(candidates, deps.random)), options.prefer ?? []);
  const queue = order.slice(0, options.maxCandidates);
  const attempts: Attempt[] = [];
  const finished = new Finished();
  const claims = new ClaimDesk();
  let running = 0;
  const start = async (candidate: Candidate): Promise<void> => {
    const attempt: Attempt = { candidate, startedAt: deps.now() };
    attempts.push(attempt);
    running += 1;
    const result = await ask(deps, candidate, wish, { ...options, signal }, claims.ticket());
    running -= 1;
    attempt.result = result;
    // Nobody waits any more for an agreement that came in the same moment as the end of the time.
    if (race.signal.aborted && result.accepted) void result.agreement.end('superseded');
    else finished.add(attempt);
  };
  try {
    for (;;) {
      for (const attempt of finished.take()) {
        judge(attempt, penalties);
        const { result } = attempt;
        if (result?.accepted === true) return { ...result, attempts: attempts.map((one) => shown(one, deps.now())) };
        if (!signal.aborted) report(deps, attempt, queue.length > 0);
      }
      if (signal.aborted) break;
      const next = queue.shift();
      if (next !== undefined) void start(next);
      else if (running === 0) break;
      await finished.wait(queue.length > 0 ? options.hedgeMs : MAX_TIMER_MS, signal);
    }
    throw failure(attempts, deps.now());
  } finally {
    // Whoever is still being asked withdraws.
    race.abort();
    limit.clear();
  }
}

/** Attempts that came to an end and were not looked at yet. */
class Finished {
  readonly #attempts: Attempt[] = [];
  #bell = new AbortController();

  add(attempt: Attempt): void {
    this.#attempts.push(attempt);
    this.#bell.abort();
  }

  take(): Attempt[] {
    this.#bell = new AbortController();
    return this.#attempts.splice(0);
  }

  /** Until there is one, the time is over or the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await wait(ms, AbortSignal.any([signal, this.#bell.signal]));
  }
}

async function ask(
  deps: NegotiatorDeps,
  candidate: Candidate,
  wish: NegotiationWish,
  options: NegotiateFirstOptions,
  ticket: ClaimTicket,
): Promise<NegotiationResult> {
  const { signal, maxRounds, candidateTimeoutMs: timeoutMs } = options;
  const run = { ...counterRules(options), signal, timeoutMs, maxRounds, claim: ticket.claim };
  const result = await negotiateWith(deps, candidate, wish, run);
  ticket.settle(result.accepted);
  return result;
}

function counterRules({ acceptCounter, acceptCounters, acceptable }: CounterRules): CounterRules {
  return {
    ...(acceptCounter === undefined ? {} : { acceptCounter }),
    ...(acceptCounters === undefined ? {} : { acceptCounters }),
    ...(acceptable === undefined ? {} : { acceptable }),
  };
}

interface ClaimTicket {
  readonly claim: () => Promise<boolean>;
  readonly settle: (won: boolean) => void;
}

/**
 * Two candidates may accept at the same time, but only one is confirmed: one at a time holds the claim, and the others
 * wait to see whether its confirmation stands.
 */
class ClaimDesk {
  #holder: Promise<boolean> | undefined;

  ticket(): ClaimTicket {
    const outcome = Promise.withResolvers<boolean>();
    let holds = false;
    return {
      claim: async () => {
        for (let holder = this.#holder; holder !== undefined; holder = this.#holder) {
          if (await holder) return false;
          if (this.#holder === holder) this.#holder = undefined;
        }
        holds = true;
        this.#holder = outcome.promise;
        return true;
      },
      settle: (won) => {
        if (holds) outcome.resolve(won);
      },
    };
  }
}

function judge({ candidate, result }: Attempt, penalties: PenaltyBox): void {
  if (result === undefined) return;
  if (result.accepted) penalties.forgive(candidate.agentId);
  else if (['timeout', 'unreachable', 'invalid_answer'].includes(result.outcome)) penalties.add(candidate.agentId);
  else if (result.reason.retryAfterMs !== undefined) penalties.add(candidate.agentId, result.reason.retryAfterMs);
}

function report(deps: NegotiatorDeps, { candidate, result }: Attempt, hasNext: boolean): void {
  if (result === undefined || result.accepted) return;
  const words = `Negotiation with ${candidate.agentId} ${inWords(result)}`;
  deps.logger.step('negotiate', `${words}${hasNext ? ', trying the next candidate' : ''}`, {
    responder: candidate.agentId,
    outcome: result.outcome,
    reason: result.reason.code,
    duration_ms: result.durationMs,
  });
}

function failure(attempts: readonly Attempt[], now: number): NegotiationFailed {
  const retryable = attempts.some(({ result }) => result?.accepted !== true && (result?.reason.retryable ?? true));
  return new NegotiationFailed(
    attempts.map((one) => shown(one, now)),
    { retryable: retryable || attempts.length === 0 },
  );
}

function shown({ candidate, startedAt, result }: Attempt, now: number): NegotiationAttempt {
  const base = {
    agent_id: candidate.agentId,
    duration_ms: Math.max(0, Math.round(result?.durationMs ?? now - startedAt)),
  };
  if (result === undefined) return { ...base, outcome: 'withdrawn' };
  return { ...base, outcome: result.outcome, ...(result.accepted ? {} : { reason: result.reason.code }) };
}

function preferredFirst(candidates: readonly Candidate[], prefer: readonly string[]): readonly Candidate[] {
  const preferred = prefer.flatMap((id) => candidates.filter(({ agentId }) => agentId === id));
  return [...new Set([...preferred, ...candidates])];
}

/** Fisher and Yates. */
function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const out = [...items];
  for (let at = out.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [a, b] = [out[at], out[other]];
    if (a !== undefined && b !== undefined) [out[at], out[other]] = [b, a];
  }
  return out;
}
