import type { NegotiationResponse, PeerHttp } from '@parley/agent';
import { AppError, operation, type CallContext, type Logger, type Operation } from '@parley/service-kit';
import type { RegistryCore } from '../replica/core-types.js';
import { askCandidate, postNegotiation, type Attempt } from './attempt.js';
import { brokerInput, proposalFor, type BrokerInput } from './broker-input.js';
import { findCandidates, type Candidate } from './candidates.js';
import { firstAcceptable } from './first-acceptable.js';

export interface BrokerDeps {
  readonly core: RegistryCore;
  readonly peer: PeerHttp;
  readonly logger: Logger;
  /** Brokered negotiations at the same time, all initiators together. */
  readonly maxConcurrent: number;
  /** At the same time for one initiator. Default 16. */
  readonly maxPerInitiator?: number;
  /** The next candidate is also asked when the one before has not answered for so long. Default 500 ms. */
  readonly hedgeMs?: number;
  /** Default 15,000 ms for the whole. */
  readonly maxTotalMs?: number;
  readonly onOutcome?: (outcome: string) => void;
}

export interface BrokerOutput extends NegotiationResponse {
  readonly responder?: { readonly agent_id: string; readonly endpoint: string };
  readonly attempts: readonly AttemptJson[];
}

export interface AttemptJson {
  readonly agent_id: string;
  readonly outcome: string;
  readonly duration_ms: number;
  readonly reason?: string;
}

/**
 * `POST /negotiate`: asks candidates in random order until one accepts. It only passes on: terms, proofs and
 * agreements are between the two agents, and everything after the answer goes to the responder directly.
 */
export function brokerOperation(deps: BrokerDeps): Operation<BrokerInput, BrokerOutput> {
  const running = new Map<string, number>();
  let total = 0;
  return operation(brokerInput, async (input, call) => {
    const own = running.get(input.agent_id) ?? 0;
    if (total >= deps.maxConcurrent || own >= (deps.maxPerInitiator ?? 16)) {
      throw new AppError('too_many_requests', 'Too many negotiations are being brokered at this moment.', {
        code: 'too_many_negotiations',
        retryAfterSeconds: 1,
      });
    }
    total += 1;
    running.set(input.agent_id, own + 1);
    try {
      const output = await broker(deps, input, call);
      deps.onOutcome?.(output.outcome);
      return output;
    } finally {
      total -= 1;
      const left = (running.get(input.agent_id) ?? 1) - 1;
      if (left === 0) running.delete(input.agent_id);
      else running.set(input.agent_id, left);
    }
  });
}

async function broker(deps: BrokerDeps, input: BrokerInput, call: CallContext): Promise<BrokerOutput> {
  const candidates = findCandidates(deps.core, input);
  if (candidates.length === 0) return nobody(input);
  const budget = AbortSignal.timeout(
    Math.min(input.deadline_ms ?? Number.POSITIVE_INFINITY, deps.maxTotalMs ?? 15_000),
  );
  const proposal = proposalFor(input);
  const { winner, attempts, losers } = await firstAcceptable({
    candidates,
    hedgeMs: deps.hedgeMs ?? 500,
    signal: AbortSignal.any([call.signal, budget]),
    ask: (candidate, signal) =>
      askCandidate({
        peer: deps.peer,
        candidate,
        proposal,
        sessionId: input.session_id,
        timeoutMs: input.candidate_timeout_ms,
        signal,
      }),
    satisfies: (attempt) => satisfies(attempt, input),
  });
  for (const loser of losers) void withdraw(deps, input, loser);
  const answer = answerOf(input, winner, attempts);
  deps.logger.step(
    'broker',
    `Negotiate ${input.session_id}: ${input.agent_id} with ${winner?.candidate.agentId ?? 'nobody'} -> ${answer.outcome}`,
    {
      session_id: input.session_id,
      agent_id: input.agent_id,
      outcome: answer.outcome,
      attempts: answer.attempts.length,
    },
  );
  return answer;
}

/** A counter is as good as an acceptance only when it gives everything that was asked for. */
function satisfies({ answer }: Attempt, input: BrokerInput): boolean {
  if (answer?.outcome !== 'countered') return false;
  return Object.entries(input.parameters).every(([name, value]) => answer.parameters[name] === value);
}

function answerOf(input: BrokerInput, winner: Attempt | undefined, attempts: readonly Attempt[]): BrokerOutput {
  const shown = attempts.map(attemptJson);
  if (winner?.answer !== undefined) {
    const { agentId, endpoint } = winner.candidate;
    return { ...winner.answer, responder: { agent_id: agentId, endpoint }, attempts: shown };
  }
  const [only] = attempts;
  if (input.target_agent_id !== undefined && only?.refusal !== undefined) throw only.refusal;
  const declined = attempts.length === 1 ? only?.answer : undefined;
  if (declined !== undefined && only !== undefined) {
    const { agentId, endpoint } = only.candidate;
    return { ...declined, responder: { agent_id: agentId, endpoint }, attempts: shown };
  }
  const silent = attempts.every(({ outcome }) => outcome === 'timeout');
  return {
    ...nobody(input),
    reason: {
      code: silent ? 'timeout' : 'no_candidates',
      detail: silent ? 'No candidate answered in time.' : 'No candidate accepted.',
      retryable: true,
      items: shown.map(({ agent_id: name, outcome, reason }) => ({ name, code: outcome, detail: reason ?? '' })),
    },
    attempts: shown,
  };
}

function nobody(input: BrokerInput): BrokerOutput {
  return {
    session_id: input.session_id,
    accepted: false,
    parameters: {},
    outcome: 'declined',
    reason: {
      code: 'no_candidates',
      detail: 'No living agent offers all of these capabilities.',
      retryable: true,
      items: [],
    },
    unsupported_parameters: [],
    round: 0,
    max_rounds: 0,
    attempts: [],
  };
}

function attemptJson(attempt: Attempt): AttemptJson {
  return {
    agent_id: attempt.candidate.agentId,
    outcome: attempt.outcome,
    duration_ms: Math.max(0, Math.round(attempt.durationMs)),
    ...(attempt.reason === undefined ? {} : { reason: attempt.reason }),
  };
}

/** Tells a candidate that was asked in vain; if it never hears of it, its offer or pending agreement ends by itself. */
async function withdraw(deps: BrokerDeps, input: BrokerInput, candidate: Candidate): Promise<void> {
  try {
    const withdrawal = { session_id: input.session_id, agent_id: input.agent_id, action: 'withdraw', via: 'registry' };
    await postNegotiation(deps.peer, candidate, withdrawal, { signal: AbortSignal.timeout(2_000), timeoutMs: 1_000 });
  } catch (error) {
    deps.logger.debug('a withdrawal was not heard', {
      agent_id: candidate.agentId,
      session_id: input.session_id,
      error,
    });
  }
}
