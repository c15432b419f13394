import { randomUUID } from 'node:crypto';
import { AppError, type Logger } from '@parley/service-kit';
import { newProof, type Proof } from '../negotiation/proof.js';
import { backoffMs } from '../peer/backoff.js';
import { deadline } from '../peer/deadline.js';
import { isTransient, neverSent } from '../peer/peer-errors.js';
import { wait } from '../peer/wait.js';
import type { Scalar } from '../skill.js';
import type { Agreement } from '../wire/agreement.js';
import type { NegotiationResponse, Offer } from '../wire/answers.js';
import type { NegotiationInput } from '../wire/negotiation.js';
import { acceptanceFault, flattenTerms, termsFault } from './check-answer.js';
import { judgeCounter } from './judge-counter.js';
import { LivingAgreement } from './living-agreement.js';
import type {
  CounterRules,
  NegotiationResult,
  NegotiationTarget,
  NegotiationWish,
  NoAgreement,
} from './negotiation-types.js';
import { outcomeOfError } from './outcome-of-error.js';
import type { ResponderClient } from './responder-client.js';

export interface NegotiatorDeps {
  /** The initiator's own id. */
  readonly self: string;
  readonly responder: ResponderClient;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  /** Cryptographically random bytes. Default: of node:crypto. */
  readonly randomBytes?: (count: number) => Uint8Array;
  /** Default: a random UUID. */
  readonly newSessionId?: () => string;
  /** Told of what goes on for up to a second after the result: a withdrawal on its way. Never rejects. */
  readonly background?: (work: Promise<void>) => void;
}

export interface NegotiateWithOptions extends CounterRules {
  readonly signal: AbortSignal;
  /** For the whole negotiation, confirmation included. */
  readonly timeoutMs: number;
  readonly maxRounds: number;
  /**
   * Asked when the responder has accepted and before that is confirmed: false withdraws, because somebody else was
   * quicker.
   */
  readonly claim?: () => Promise<boolean>;
}

/** What a broker has already done: its first answer, and when it was asked for. */
export interface BrokeredStart {
  readonly answer: NegotiationResponse;
  readonly askedAt: number;
  readonly sessionId: string;
  readonly proof: Proof;
}

const WITHDRAW_MS = 1_000;
const CONFIRM_BACKOFF = { baseMs: 100, capMs: 1_000 };

/**
 * Drives one negotiation with one responder to its end: offers, counters, acceptance, confirmation. Whatever stops it
 * before that, the responder is told. Never rejects.
 */
export async function negotiateWith(
  deps: NegotiatorDeps,
  target: NegotiationTarget,
  wish: NegotiationWish,
  options: NegotiateWithOptions,
  start?: BrokeredStart,
): Promise<NegotiationResult> {
  const limit = deadline(options.timeoutMs, options.signal);
  try {
    return await new NegotiationRun(deps, target, wish, { ...options, signal: limit.signal }, start).run();
  } finally {
    limit.clear();
  }
}

type Unsuccessful = Extract<NegotiationResult, { accepted: false }>;

class NegotiationRun {
  readonly #deps: NegotiatorDeps;
  readonly #target: NegotiationTarget;
  readonly #wish: NegotiationWish;
  readonly #options: NegotiateWithOptions;
  readonly #start: BrokeredStart | undefined;
  readonly #sessionId: string;
  readonly #proof: Proof;
  readonly #startedAt: number;
  #responderId: string | undefined;
  /** Own clock, before the latest message that may make an agreement. */
  #askedAt: number;
  #round = 1;
  #lastOffer: Offer | undefined;
  /** The responder may hold something of ours: an offer, a pending agreement. */
  #open = false;

  constructor(
    deps: NegotiatorDeps,
    target: NegotiationTarget,
    wish: NegotiationWish,
    options: NegotiateWithOptions,
    start: BrokeredStart | undefined,
  ) {
    this.#deps = deps;
    this.#target = target;
    this.#wish = wish;
    this.#options = options;
    this.#start = start;
    this.#sessionId = start?.sessionId ?? (deps.newSessionId ?? randomUUID)();
    this.#proof = start?.proof ?? newProof(deps.randomBytes);
    this.#startedAt = deps.now();
    this.#askedAt = start?.askedAt ?? this.#startedAt;
    this.#responderId = target.agentId;
  }

  async run(): Promise<NegotiationResult> {
    try {
      this.#open = true;
      let answer = this.#start?.answer ?? (await this.#propose(this.#wish.parameters ?? {}, undefined));
      for (;;) {
        const step = await this.#follow(answer);
        if ('result' in step) return step.result;
        answer = step.answer;
      }
    } catch (thrown) {
      const error = AppError.from(thrown);
      const { outcome, reason } = outcomeOfError(error, this.#options.signal);
      if (this.#open && mayHoldSomething(error)) this.#withdraw();
      return { ...this.#unsuccessful(outcome, reason), error };
    }
  }

  /** One answer leads to a result or to the next answer. */
  async #follow(answer: NegotiationResponse): Promise<{ result: NegotiationResult } | { answer: NegotiationResponse }> {
    if (answer.session_id !== this.#sessionId) return { result: this.#invalid('it names another session') };
    if (answer.accepted !== (answer.outcome === 'accepted')) {
      return { result: this.#invalid('accepted and outcome contradict each other') };
    }
    switch (answer.outcome) {
      case 'accepted':
        return { result: await this.#accepted(answer) };
      case 'countered':
        return this.#countered(answer);
      default:
        this.#open = false;
        return { result: this.#unsuccessful(answer.outcome, reasonOf(answer)) };
    }
  }

  async #accepted(answer: NegotiationResponse): Promise<NegotiationResult> {
    const { agreement } = answer;
    if (agreement === undefined) return this.#invalid('it accepts without an agreement', 'agreement_missing');
    const fault = this.#agreementFault(agreement, answer.unsupported_parameters);
    if (fault !== undefined) return this.#invalid(fault);
    this.#responderId = agreement.terms.responder;
    if (this.#options.claim !== undefined && !(await this.#options.claim())) {
      this.#withdraw();
      return this.#unsuccessful('withdrawn', notRetryable('superseded', 'another candidate was quicker'));
    }
    const confirmed = agreement.state === 'pending' ? await this.#confirm(agreement) : agreement;
    if (confirmed.state === 'ended' || confirmed.terms_digest !== agreement.terms_digest) {
      return this.#invalid('the confirmed agreement is another one or has ended');
    }
    this.#open = false;
    const { responder, logger, now, random } = this.#deps;
    const handle = new LivingAgreement(
      { responder, logger, now, random },
      {
        agreement: confirmed,
        endpoint: this.#target.endpoint,
        proof: this.#proof.secret,
        responderProofHash: answer.responder_proof_hash,
        askedAt: this.#askedAt,
      },
    );
    logger.step('handshake', `Handshake completed with ${handle.agentId}`, {
      session_id: this.#sessionId,
      agreement_id: handle.agreementId,
      responder: handle.agentId,
    });
    return {
      ...this.#base(),
      accepted: true,
      outcome: 'accepted',
      agreement: handle,
      // Out of the terms, which were checked: what stands beside them was not.
      parameters: flattenTerms(handle.terms),
      unsupportedParameters: answer.unsupported_parameters,
    };
  }

  #agreementFault(agreement: Agreement, unsupported: readonly string[]): string | undefined {
    if (agreement.session_id !== this.#sessionId) return 'the agreement names another session';
    if (agreement.state === 'ended') return 'the agreement has ended already';
    const { terms, terms_digest: termsDigest } = agreement;
    const offer = this.#lastOffer;
    if (offer !== undefined)
      return offer.terms_digest === termsDigest ? undefined : 'it accepts other terms than were taken';
    const fault = termsFault({ terms, termsDigest, unsupported }, this.#expected());
    return fault ?? acceptanceFault(terms, this.#wish);
  }

  async #countered(
    answer: NegotiationResponse,
  ): Promise<{ result: NegotiationResult } | { answer: NegotiationResponse }> {
    const { offer, unsupported_parameters: unsupported } = answer;
    if (this.#lastOffer !== undefined) return { result: this.#invalid('it counters its own offer') };
    if (offer === undefined) return { result: this.#invalid('it counters without an offer') };
    const fault = termsFault({ terms: offer.terms, termsDigest: offer.terms_digest, unsupported }, this.#expected());
    if (fault !== undefined) return { result: this.#invalid(fault) };
    this.#responderId = offer.terms.responder;
    const verdict = judgeCounter(offer, this.#wish, this.#options);
    if (verdict === true) {
      this.#lastOffer = offer;
      const { offer_id, terms_digest } = offer;
      return { answer: await this.#send({ action: 'accept', offer_id, terms_digest }) };
    }
    const maxRounds = Math.min(
      this.#options.maxRounds,
      answer.max_rounds > 0 ? answer.max_rounds : Number.POSITIVE_INFINITY,
    );
    if (verdict === false || this.#round >= maxRounds) {
      this.#farewell({ action: 'decline', offer_id: offer.offer_id });
      const reason =
        verdict === false
          ? notRetryable('counter_not_acceptable', 'the counter-offer does not satisfy the request')
          : notRetryable('rounds_exhausted', `no agreement within ${String(maxRounds)} rounds`);
      return { result: { ...this.#unsuccessful('countered', reason), offer } };
    }
    this.#round += 1;
    return { answer: await this.#propose(verdict.parameters, offer.offer_id) };
  }

  #propose(parameters: Readonly<Record<string, Scalar>>, inReplyTo: string | undefined): Promise<NegotiationResponse> {
    const { capabilities, requiredParameters, agreementTtlSeconds, limits, message } = this.#wish;
    const sent = this.#send({
      action: 'propose',
      capabilities: [...capabilities],
      parameters: { ...parameters },
      required_parameters: requiredParameters === undefined ? undefined : [...requiredParameters],
      in_reply_to_offer_id: inReplyTo,
      proof_hash: this.#proof.hash,
      agreement_ttl_seconds: agreementTtlSeconds,
      deadline_ms: Math.min(60_000, Math.max(1, Math.ceil(this.#options.timeoutMs))),
      max_rounds: Math.min(16, this.#options.maxRounds),
      limits,
      message,
    });
    this.#deps.logger.step('negotiate', `Sent negotiation to ${this.#name()} (session_id: ${this.#sessionId})`, {
      session_id: this.#sessionId,
      target: this.#target.endpoint,
    });
    return sent;
  }

  #send(message: Omit<NegotiationInput, 'session_id' | 'agent_id'>): Promise<NegotiationResponse> {
    this.#askedAt = this.#deps.now();
    const request = { session_id: this.#sessionId, agent_id: this.#deps.self, ...message };
    const { signal, timeoutMs } = this.#options;
    return this.#deps.responder.negotiate(this.#target.endpoint, request, { signal, timeoutMs });
  }

  /** Repeats while there is time: the answer may be lost though the confirmation arrived. */
  async #confirm(agreement: Agreement): Promise<Agreement> {
    const { responder, random } = this.#deps;
    const { signal, timeoutMs } = this.#options;
    const ref = {
      endpoint: this.#target.endpoint,
      agreementId: agreement.agreement_id,
      termsDigest: agreement.terms_digest,
      proof: this.#proof.secret,
    };
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await responder.confirm(ref, { signal, timeoutMs: Math.min(timeoutMs, 2_000) });
      } catch (error) {
        if (signal.aborted || attempt >= 4 || !isTransient(error)) throw error;
        await wait(backoffMs(attempt, { ...CONFIRM_BACKOFF, random }), signal);
      }
    }
  }

  #invalid(what: string, code = 'invalid_answer'): Unsuccessful {
    this.#withdraw();
    return this.#unsuccessful('invalid_answer', notRetryable(code, what));
  }

  #withdraw(): void {
    this.#farewell({ action: 'withdraw' });
  }

  /** Frees the responder's place at once; if it does not arrive, its own deadline does. Nobody waits for it. */
  #farewell(message: Omit<NegotiationInput, 'session_id' | 'agent_id'>): void {
    this.#open = false;
    const sent = this.#sendFarewell(message);
    this.#deps.background?.(sent);
  }

  async #sendFarewell(message: Omit<NegotiationInput, 'session_id' | 'agent_id'>): Promise<void> {
    const limit = deadline(WITHDRAW_MS);
    const request = { session_id: this.#sessionId, agent_id: this.#deps.self, ...message };
    try {
      const call = { signal: limit.signal, timeoutMs: WITHDRAW_MS, proof: this.#proof.secret };
      await this.#deps.responder.negotiate(this.#target.endpoint, request, call);
    } catch (error) {
      this.#deps.logger.debug(`${this.#name()} did not take the ${String(message.action)}`, {
        session_id: this.#sessionId,
        error,
      });
    } finally {
      limit.clear();
    }
  }

  #expected(): { self: string; target: NegotiationTarget; wish: NegotiationWish } {
    const agentId = this.#responderId;
    const target = { endpoint: this.#target.endpoint, ...(agentId === undefined ? {} : { agentId }) };
    return { self: this.#deps.self, target, wish: this.#wish };
  }

  #name(): string {
    return this.#responderId ?? this.#target.endpoint;
  }

  #base(): { sessionId: string; agentId: string | undefined; durationMs: number } {
    return {
      sessionId: this.#sessionId,
      agentId: this.#responderId,
      durationMs: Math.max(0, this.#deps.now() - this.#startedAt),
    };
  }

  #unsuccessful(outcome: Unsuccessful['outcome'], reason: NoAgreement): Unsuccessful {
    return { ...this.#base(), accepted: false, outcome, reason };
  }
}

/** Not after a refusal, which left nothing behind, nor when nothing was sent. */
function mayHoldSomething(error: AppError): boolean {
  if (neverSent(error) || error.code === 'target_refused') return false;
  return error.status >= 500 || error.reason === 'cancelled' || error.reason === 'request_timeout';
}

function notRetryable(code: string, detail: string): NoAgreement {
  return { code, detail, retryable: false };
}

function reasonOf({ reason, outcome }: NegotiationResponse): NoAgreement {
  if (reason === undefined) return notRetryable(outcome, 'no reason was given');
  const { code, detail, retryable, retry_after_ms: retryAfterMs, items } = reason;
  const named = items.map(({ name }) => name).join(', ');
  return {
    code,
    detail: named === '' ? detail : `${detail} (${named})`,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
