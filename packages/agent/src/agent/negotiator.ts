import { randomUUID } from 'node:crypto';
import type { Logger } from '@parley/service-kit';
import {
  negotiateFirst,
  negotiateWith,
  NegotiationFailed,
  PenaltyBox,
  type Accepted,
  type AgreementBook,
  type Candidate,
  type CounterRules,
  type NegotiateOptions,
  type NegotiationResult,
  type NegotiationWish,
  type NegotiatorDeps,
} from '../initiator/index.js';
import { LivingAgreement } from '../initiator/living-agreement.js';
import { inWords } from '../initiator/outcome-words.js';
import { newProof } from '../negotiation/index.js';
import type { RegistryClient } from '../registry-client/index.js';
import type { Scalar } from '../skill.js';
import type {
  AgentSettings,
  DirectNegotiateOptions,
  NegotiateAnyOptions,
  NegotiateThroughOptions,
} from './agent-options.js';

export interface NegotiatorOptions {
  readonly deps: NegotiatorDeps;
  readonly book: AgreementBook;
  readonly settings: AgentSettings;
  readonly logger: Logger;
}

type Parameters = Readonly<Record<string, Scalar>>;

/** The three ways to an agreement: with one responder, with the first of several, and through a registry. */
export class Negotiator {
  readonly #deps: NegotiatorDeps;
  readonly #book: AgreementBook;
  readonly #settings: AgentSettings;
  readonly #logger: Logger;
  readonly #penalties: PenaltyBox;

  constructor({ deps, book, settings, logger }: NegotiatorOptions) {
    this.#deps = deps;
    this.#book = book;
    this.#settings = settings;
    this.#logger = logger;
    this.#penalties = new PenaltyBox({ now: deps.now, penaltyMs: settings.penaltyMs });
  }

  async direct(
    endpoint: string,
    capabilities: readonly string[],
    parameters: Parameters,
    options: DirectNegotiateOptions,
    signal: AbortSignal,
  ): Promise<NegotiationResult> {
    this.#book.ensureRoom();
    const target = { endpoint, ...(options.agentId === undefined ? {} : { agentId: options.agentId }) };
    const result = await negotiateWith(this.#deps, target, wishOf(capabilities, parameters, options), {
      ...rulesOf(options),
      signal,
      timeoutMs: options.timeoutMs ?? this.#settings.negotiationTimeoutMs,
      maxRounds: options.maxRounds ?? DEFAULT_ROUNDS,
    });
    if (result.accepted) this.#keep(result);
    else {
      this.#logger.step('negotiate', `Negotiation with ${result.agentId ?? endpoint} ${inWords(result)}`, {
        session_id: result.sessionId,
        outcome: result.outcome,
        reason: result.reason.code,
      });
    }
    return result;
  }

  async first(
    candidates: readonly Candidate[],
    capabilities: readonly string[],
    parameters: Parameters,
    options: NegotiateAnyOptions,
    signal: AbortSignal,
  ): Promise<Accepted> {
    this.#book.ensureRoom();
    const settings = this.#settings;
    const run = {
      ...rulesOf(options),
      signal,
      prefer: options.prefer ?? [],
      candidateTimeoutMs: options.candidateTimeoutMs ?? settings.candidateTimeoutMs,
      hedgeMs: settings.hedgeMs,
      maxCandidates: options.maxCandidates ?? settings.maxCandidates,
      totalMs: options.timeoutMs ?? settings.negotiationTotalMs,
      maxRounds: options.maxRounds ?? DEFAULT_ROUNDS,
    };
    const wish = wishOf(capabilities, parameters, options);
    try {
      const result = await negotiateFirst(this.#deps, candidates, wish, run, this.#penalties);
      this.#keep(result);
      return result;
    } catch (error) {
      if (error instanceof NegotiationFailed) this.#failed(error);
      throw error;
    }
  }

  async through(
    client: RegistryClient,
    capabilities: readonly string[],
    parameters: Parameters,
    options: NegotiateThroughOptions,
    signal: AbortSignal,
  ): Promise<Accepted> {
    this.#book.ensureRoom();
    const proof = newProof(this.#deps.randomBytes);
    const sessionId = (this.#deps.newSessionId ?? randomUUID)();
    const askedAt = this.#deps.now();
    this.#logger.step('negotiate', `Sent negotiation to ${client.target} (session_id: ${sessionId})`, {
      session_id: sessionId,
      registry: client.target,
    });
    const { requiredParameters, agreementTtlSeconds, limits, message } = options;
    const answer = await client.brokerNegotiation(
      {
        session_id: sessionId,
        agent_id: this.#deps.self,
        capabilities: [...capabilities],
        parameters: { ...parameters },
        required_parameters: requiredParameters === undefined ? undefined : [...requiredParameters],
        proof_hash: proof.hash,
        agreement_ttl_seconds: agreementTtlSeconds,
        deadline_ms: Math.min(60_000, options.timeoutMs ?? this.#settings.negotiationTotalMs),
        max_rounds: options.maxRounds,
        limits,
        message,
        target_agent_id: options.targetAgentId,
        max_candidates: Math.min(8, options.maxCandidates ?? this.#settings.maxCandidates),
        candidate_timeout_ms: options.candidateTimeoutMs ?? this.#settings.candidateTimeoutMs,
        labels: options.labels,
        exclude: options.exclude,
      },
      { signal, timeoutMs: (options.timeoutMs ?? this.#settings.negotiationTotalMs) + 1_000 },
    );
    const { responder, attempts, ...first } = answer;
    if (responder === undefined || (first.outcome !== 'accepted' && first.outcome !== 'countered')) {
      throw this.#failed(new NegotiationFailed(attempts, { retryable: first.reason?.retryable ?? true }));
    }
    const target = { agentId: responder.agent_id, endpoint: responder.endpoint };
    const run = {
      ...rulesOf(options),
      signal,
      timeoutMs: this.#settings.negotiationTimeoutMs,
      maxRounds: options.maxRounds ?? DEFAULT_ROUNDS,
    };
    const start = { answer: first, askedAt, sessionId, proof };
    const result = await negotiateWith(this.#deps, target, wishOf(capabilities, parameters, options), run, start);
    if (!result.accepted) {
      const own = {
        agent_id: target.agentId,
        outcome: result.outcome,
        duration_ms: result.durationMs,
        reason: result.reason.code,
      };
      throw this.#failed(new NegotiationFailed([...attempts, own], { retryable: result.reason.retryable }));
    }
    this.#keep(result);
    return { ...result, attempts };
  }

  #keep({ agreement }: Extract<NegotiationResult, { accepted: true }>): void {
    if (agreement instanceof LivingAgreement) this.#book.add(agreement);
  }

  #failed(error: NegotiationFailed): NegotiationFailed {
    this.#logger.step('negotiate', `Negotiation failed: ${error.message}`, { attempts: error.attempts });
    return error;
  }
}

const DEFAULT_ROUNDS = 4;

function wishOf(capabilities: readonly string[], parameters: Parameters, options: NegotiateOptions): NegotiationWish {
  const { requiredParameters, agreementTtlSeconds, limits, message } = options;
  return {
    capabilities,
    parameters,
    ...(requiredParameters === undefined ? {} : { requiredParameters }),
    ...(agreementTtlSeconds === undefined ? {} : { agreementTtlSeconds }),
    ...(limits === undefined ? {} : { limits }),
    ...(message === undefined ? {} : { message }),
  };
}

function rulesOf({ acceptCounter, acceptCounters, acceptable }: CounterRules): CounterRules {
  return {
    ...(acceptCounter === undefined ? {} : { acceptCounter }),
    ...(acceptCounters === undefined ? {} : { acceptCounters }),
    ...(acceptable === undefined ? {} : { acceptable }),
  };
}
