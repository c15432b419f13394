import { AppError } from '@parley/service-kit';
import { bodyDigest } from '../negotiation/body-digest.js';
import { termsHold } from '../negotiation/build-terms.js';
import { declinedAnswer, type RoundView } from '../negotiation/compose-answer.js';
import { admit, judgeTerms, type Accepted, type Declined } from '../negotiation/decide.js';
import type { PolicyVerdict } from '../negotiation/policy.js';
import { proofMatches } from '../negotiation/proof.js';
import { afterAgreement, afterJudgement, offerExpired } from '../negotiation/session-effects.js';
import type { OfferRecord, SessionRecord } from '../negotiation/session-record.js';
import { nextStep, type SessionStep } from '../negotiation/session.js';
import { NEGOTIATION_REASONS, type NegotiationReasonCode, type NegotiationResponse } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import type { AgreementLedger } from './agreement-ledger.js';
import type { AgreementRecord } from './agreement-record.js';
import type { CommitResult } from './agreement-store.js';
import { toAgreement } from './agreement-view.js';
import type { KeeperContext } from './keeper-context.js';
import type { NegotiationCaller } from './keeper-types.js';
import { makeAgreement } from './make-agreement.js';
import { logReceived, logSent } from './negotiation-log.js';
import { withDeadline } from './with-deadline.js';

const MAX_ATTEMPTS = 8;

interface Answered {
  readonly answer: NegotiationResponse;
  readonly repeated: boolean;
}
type AgreementStep = { readonly round: number; readonly maxRounds: number } | { readonly offer: OfferRecord };

/** One message of a negotiation while it is worked on. */
interface Turn {
  readonly request: NegotiationRequest;
  readonly caller: NegotiationCaller;
  readonly digest: string;
  /** The policy is asked once per message, however often the session has to be read again. */
  verdict?: { readonly termsDigest: string; readonly verdict: PolicyVerdict };
}

/** Answers the messages of negotiations: reads the session, decides, stores, and only then answers. */
export class Negotiator {
  readonly #context: KeeperContext;
  readonly #ledger: AgreementLedger;

  constructor(context: KeeperContext, ledger: AgreementLedger) {
    this.#context = context;
    this.#ledger = ledger;
  }

  async negotiate(request: NegotiationRequest, caller: NegotiationCaller): Promise<NegotiationResponse> {
    const { logger, metrics } = this.#context;
    try {
      if (caller.authenticatedAgent !== undefined && caller.authenticatedAgent !== request.agent_id) {
        throw new AppError('forbidden', 'The request names another agent than its sender.', {
          code: 'agent_id_mismatch',
        });
      }
      const { answer, repeated } = await this.#answer({ request, caller, digest: bodyDigest(request) });
      if (!repeated) metrics.onNegotiation?.(answer.outcome, reasonCode(answer));
      logReceived(logger, request, answer);
      logSent(logger, request, answer, repeated);
      return answer;
    } catch (error) {
      const { code } = AppError.from(error);
      logger.info(`Received negotiation, action ${request.action} -> error: ${code}`, {
        session_id: request.session_id,
        agent_id: request.agent_id,
        code,
      });
      throw error;
    }
  }

  async #answer(turn: Turn): Promise<Answered> {
    const { request, digest } = turn;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { store, settings, now } = this.#context;
      const session = await store.getSession(request.agent_id, request.session_id, now());
      const step = nextStep(session, request, digest, now(), settings);
      const answered = await this.#perform(turn, session, step);
      if (answered !== undefined) return answered;
    }
    throw new AppError('unavailable', 'This session is being changed by too many requests at once.', {
      code: 'session_busy',
    });
  }

  /** @returns undefined when the session was changed meanwhile and has to be read again. */
  async #perform(turn: Turn, session: SessionRecord | undefined, step: SessionStep): Promise<Answered | undefined> {
    switch (step.kind) {
      case 'answer':
        return { answer: await this.#asItIsNow(step, session), repeated: step.repeated };
      case 'write':
        return this.#store(session, step.session, step.answer);
      case 'withdraw':
        return this.#withdraw(turn, session, step);
      case 'judge':
        return this.#judge(turn, session, step);
      case 'take':
        return this.#take(turn, session, step.offer);
    }
  }

  async #judge(
    turn: Turn,
    session: SessionRecord | undefined,
    step: { readonly round: number; readonly maxRounds: number },
  ): Promise<Answered | undefined> {
    const { request, digest } = turn;
    const { agentId, offered, settings, now, newId } = this.#context;
    const judged = judgeTerms(request, { responder: agentId, offered: offered(), bounds: settings });
    const decision = judged.outcome === 'accepted' ? await this.#admit(turn, judged) : judged;
    if (decision.outcome === 'accepted') return this.#agree(turn, session, step, decision);
    if (decision.outcome === 'declined' && !decision.spendsRound)
      return unstored(turn, session, step.maxRounds, decision);
    const next = afterJudgement(session, request, digest, step, decision, newId('off'), now(), settings);
    return this.#store(session, next.session, next.answer);
  }

  async #take(turn: Turn, session: SessionRecord | undefined, offer: OfferRecord): Promise<Answered | undefined> {
    const { offered, settings, now } = this.#context;
    if (!termsHold(offer.terms, offered())) throw offerExpired('What the offer holds is no longer offered.');
    const { terms, termsDigest, parameters, unsupported } = offer;
    const decision = await this.#admit(turn, { outcome: 'accepted', terms, termsDigest, parameters, unsupported });
    if (offer.validUntil <= now()) throw offerExpired();
    if (decision.outcome === 'accepted') return this.#agree(turn, session, { offer }, decision);
    // The offer stays on the table until its end.
    return unstored(turn, session, session?.maxRounds ?? settings.maxRounds, decision);
  }

  /** Is there a place, and does the policy want it? The place itself is taken when the agreement is stored. */
  async #admit(turn: Turn, accepted: Accepted): Promise<Accepted | Declined> {
    const { store, settings, policy } = this.#context;
    if (policy === undefined) return accepted;
    if ((await store.countLiving()) >= settings.maxAgreements) return admit(accepted, { hasCapacity: false });
    if (turn.verdict?.termsDigest !== accepted.termsDigest) {
      turn.verdict = { termsDigest: accepted.termsDigest, verdict: await this.#askPolicy(turn, accepted) };
    }
    return admit(accepted, { hasCapacity: true, policy: turn.verdict.verdict });
  }

  #askPolicy({ request, caller }: Turn, { terms }: Accepted): Promise<PolicyVerdict> {
    const { policy, settings, logger } = this.#context;
    if (policy === undefined) return Promise.resolve({ allow: true });
    const { message: _, ...asked } = request;
    const { authenticatedAgent } = caller;
    const context = { terms, ...(authenticatedAgent === undefined ? {} : { authenticatedAgent }) };
    return withDeadline<PolicyVerdict>(
      (signal) => policy(asked, { ...context, signal }),
      Math.min(settings.policyTimeoutMs, request.deadline_ms ?? Infinity),
      { allow: false, code: 'policy', retryable: true },
      (error) => {
        logger.warn('The negotiation policy failed', {
          session_id: request.session_id,
          agent_id: request.agent_id,
          error,
        });
      },
    );
  }

  async #agree(
    turn: Turn,
    session: SessionRecord | undefined,
    step: AgreementStep,
    accepted: Accepted,
  ): Promise<Answered | undefined> {
    const { request, caller, digest } = turn;
    const { settings } = this.#context;
    const view = viewFor(turn, session, step, settings.maxRounds);
    const proofHash = request.proof_hash ?? session?.proofHash;
    const { record, answer, secret } = makeAgreement(this.#context, accepted, request, view, proofHash, caller);
    const next = afterAgreement(
      session,
      request,
      digest,
      step,
      {
        agreementId: record.agreementId,
        lifetimeEndsAt: record.lifetimeEndsAt,
        answer,
        ...(secret === undefined ? {} : { secret }),
      },
      settings,
    );
    const result = await this.#commit(session, next, record);
    if (result === 'capacity') {
      const declined = admit(accepted, { hasCapacity: false });
      if (declined.outcome === 'declined') return unstored(turn, session, view.max_rounds, declined);
    }
    return result === 'done' ? { answer, repeated: false } : undefined;
  }

  async #withdraw(
    { caller }: Turn,
    session: SessionRecord | undefined,
    step: Extract<SessionStep, { kind: 'withdraw' }>,
  ): Promise<Answered | undefined> {
    const record = await this.#ledger.find(step.agreementId);
    if (record !== undefined && !this.#mayWithdraw(record, session, caller.proof)) {
      throw new AppError('conflict', 'The agreement is in force; its proof is needed to end it.', {
        code: 'session_conflict',
      });
    }
    const isNew = session?.state !== 'withdrawn';
    // First the session, so that a repeated proposal finds the withdrawal whatever happens next.
    if (isNew && (await this.#commit(session, step.session)) !== 'done') return undefined;
    await this.#ledger.change(step.agreementId, () => ({
      type: 'end',
      reason: 'released_by_initiator',
      by: 'initiator',
    }));
    return { answer: step.answer, repeated: !isNew };
  }

  /**
   * A session id is no secret. Without the proof only what an initiator that gave up can mean is withdrawn: an agreement
   * that nobody confirmed, or whose secret made here may not have arrived yet.
   */
  #mayWithdraw(record: AgreementRecord, session: SessionRecord | undefined, proof: string | undefined): boolean {
    if (record.state === 'pending' || record.state === 'ended' || session?.state === 'withdrawn') return true;
    if (proofMatches(record.proofHash, proof)) return true;
    return session?.secret !== undefined && session.secret.until > this.#context.now();
  }

  async #store(
    session: SessionRecord | undefined,
    next: SessionRecord,
    answer: NegotiationResponse,
  ): Promise<Answered | undefined> {
    return (await this.#commit(session, next)) === 'done' ? { answer, repeated: false } : undefined;
  }

  /** @throws AppError `too_many_requests` when the initiator, or this side as a whole, has too much open. */
  async #commit(
    session: SessionRecord | undefined,
    next: SessionRecord,
    agreement?: AgreementRecord,
  ): Promise<CommitResult> {
    const { settings, now } = this.#context;
    const expectedVersion = session?.version ?? 0;
    const result = await this.#ledger.commit({
      session: { ...next, version: expectedVersion + 1 },
      expectedVersion,
      ...(agreement === undefined ? {} : { agreement }),
      maxAgreements: settings.maxAgreements,
      maxOpenPerInitiator: settings.maxOpenPerInitiator,
      maxRemembered: settings.maxRemembered,
      now: now(),
    });
    if (result === 'too_many_open' || result === 'full') {
      const whose =
        result === 'full' ? 'Too many negotiations are open here.' : 'Too many of your negotiations are open here.';
      throw new AppError('too_many_requests', whose, {
        code: 'too_many_open',
        // By then what is not confirmed has made room.
        retryAfterSeconds: Math.max(1, Math.ceil(settings.confirmWithinMs / 1_000)),
      });
    }
    return result;
  }

  /** A remembered answer with its agreement as it is now, and with its secret while that is kept. */
  async #asItIsNow(
    { answer, agreementId }: Extract<SessionStep, { kind: 'answer' }>,
    session: SessionRecord | undefined,
  ): Promise<NegotiationResponse> {
    if (agreementId === undefined) return answer;
    const record = await this.#ledger.find(agreementId);
    if (record === undefined) return answer;
    const secret = session?.secret;
    return {
      ...answer,
      agreement: toAgreement(record, this.#context.now()),
      ...(secret === undefined ? {} : { agreement_proof: secret.value }),
    };
  }
}

function viewFor(turn: Turn, session: SessionRecord | undefined, step: AgreementStep, maxRounds: number): RoundView {
  const { session_id } = turn.request;
  if ('round' in step) return { session_id, round: step.round, max_rounds: step.maxRounds };
  return { session_id, round: session?.round ?? 1, max_rounds: session?.maxRounds ?? maxRounds };
}

/** An answer that spends no round and is not remembered: the same request may be answered otherwise next time. */
function unstored(turn: Turn, session: SessionRecord | undefined, maxRounds: number, declined: Declined): Answered {
  const view = { session_id: turn.request.session_id, round: session?.round ?? 0, max_rounds: maxRounds };
  return { answer: declinedAnswer(view, declined), repeated: false };
}

function reasonCode(answer: NegotiationResponse): NegotiationReasonCode | undefined {
  return NEGOTIATION_REASONS.find((code) => code === answer.reason?.code);
}
