import { AppError, type Logger } from '@parley/service-kit';
import { backoffMs, jitter } from '../peer/backoff.js';
import { deadline } from '../peer/deadline.js';
import { isTransient } from '../peer/peer-errors.js';
import { MAX_TIMER_MS, wait } from '../peer/wait.js';
import { proofMatches } from '../negotiation/proof.js';
import type { Scalar } from '../skill.js';
import type { Agreement, Terms } from '../wire/agreement.js';
import type { AgreementHandle, HandleState } from './agreement-handle.js';
import { checkOwnReason, namedRefusalOf, refusalOf, type Refusal } from './refusal.js';
import type { AgreementRef, ResponderClient } from './responder-client.js';

export interface AgreementDeps {
  readonly responder: ResponderClient;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
}

/** What a negotiation ended with. */
export interface Grant {
  readonly agreement: Agreement;
  readonly endpoint: string;
  /** The initiator's secret. */
  readonly proof: string;
  readonly responderProofHash: string | undefined;
  /** Own clock, before the message was sent that made the agreement: the keeper cannot have made it earlier. */
  readonly askedAt: number;
}

const CALL_MS = 3_000;
const RENEW_BACKOFF = { baseMs: 200, capMs: 5_000 };
const TELL_BACKOFF = { baseMs: 200, capMs: 2_000 };
/** How long the responder is told of an end before its own clock is left to notice. */
const TELL_MS = 10_000;

export class LivingAgreement implements AgreementHandle {
  readonly #deps: AgreementDeps;
  readonly #grant: Grant;
  readonly #over = new AbortController();
  readonly #listeners = new Set<(reason: string) => void>();
  #agreement: Agreement;
  #expiresAt: number;
  #endReason: string | undefined;
  #endedAt: string | undefined;
  #partnerLapsed = false;
  #renewalDeclined = false;
  #failedRenewals = 0;
  #renewing: Promise<void> | undefined;
  #told: Promise<string> | undefined;
  #renewTimer: NodeJS.Timeout | undefined;
  #expiryTimer: NodeJS.Timeout | undefined;
  #lapseTimer: NodeJS.Timeout | undefined;

  constructor(deps: AgreementDeps, grant: Grant) {
    this.#deps = deps;
    this.#grant = grant;
    this.#agreement = grant.agreement;
    this.#expiresAt = this.#onOwnClock(grant.agreement);
    this.#watchExpiry();
    this.#scheduleRenewal();
  }

  get agreementId(): string {
    return this.#agreement.agreement_id;
  }
  get sessionId(): string {
    return this.#agreement.session_id;
  }
  get agentId(): string {
    return this.#grant.agreement.terms.responder;
  }
  get endpoint(): string {
    return this.#grant.endpoint;
  }
  get terms(): Terms {
    return this.#grant.agreement.terms;
  }
  get termsDigest(): string {
    return this.#grant.agreement.terms_digest;
  }
  get expiresAt(): number {
    return this.#expiresAt;
  }
  get endReason(): string | undefined {
    return this.#endReason;
  }
  get state(): HandleState {
    if (this.#endReason !== undefined) return 'ended';
    return this.#partnerLapsed || this.#agreement.state === 'suspended' ? 'suspended' : 'active';
  }

  parametersOf(capability: string): Readonly<Record<string, Scalar>> | undefined {
    const found = this.terms.capabilities.find(({ name }) => name === capability);
    return found === undefined ? undefined : (found.parameters ?? {});
  }

  snapshot(): Agreement {
    return {
      ...this.#agreement,
      state: this.state,
      ...(this.#endReason === undefined ? {} : { end_reason: this.#endReason, ended_at: this.#endedAt }),
    };
  }

  /** For calls to the responder; holds the secret. */
  get ref(): AgreementRef {
    const { endpoint, proof } = this.#grant;
    return { endpoint, agreementId: this.agreementId, termsDigest: this.termsDigest, proof };
  }

  /** Whether a secret shown by a caller is the responder's. */
  isResponder(proof: string | undefined): boolean {
    const { responderProofHash } = this.#grant;
    return responderProofHash !== undefined && proofMatches(responderProofHash, proof);
  }

  renew(signal: AbortSignal = new AbortController().signal): Promise<void> {
    this.#renewing ??= this.#renewOnce(signal).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async end(reason = 'completed'): Promise<string> {
    checkOwnReason(reason);
    return this.endWithin(reason, TELL_MS);
  }

  /** As `end`, with another bound for telling the responder. */
  endWithin(reason: string, tellMs: number): Promise<string> {
    if (this.#endReason !== undefined) return this.#told ?? Promise.resolve(this.#endReason);
    this.#finish(reason);
    this.#told = this.#tell(reason, tellMs);
    return this.#told;
  }

  onEnd(listener: (reason: string) => void): () => void {
    if (this.#endReason !== undefined) {
      listener(this.#endReason);
      return () => undefined;
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The responder or its answer says that it is over: nobody is told. */
  endedByPeer(reason: string): void {
    this.#finish(reason);
  }

  /** What an error of a call says about the agreement is acted on here. */
  heed(error: AppError): void {
    this.#heed(namedRefusalOf(error), error);
  }

  #heed(refusal: Refusal, error: AppError): void {
    if (refusal.kind === 'over') this.#finish(refusal.reason);
    else if (refusal.kind === 'differs') this.#viewsDiffer(error.message);
  }

  /** The responder's registration lapsed: suspended for one lease, over after it. */
  partnerLapsed(): void {
    if (this.#endReason !== undefined || this.#partnerLapsed) return;
    this.#partnerLapsed = true;
    this.#lapseTimer = timer(this.terms.lease.ttl_seconds * 1_000, () => {
      void this.end('party_unreachable');
    });
  }

  partnerBack(): void {
    this.#partnerLapsed = false;
    clearTimeout(this.#lapseTimer);
  }

  async #renewOnce(signal: AbortSignal): Promise<void> {
    if (this.#endReason !== undefined) {
      throw new AppError('gone', `The agreement has ended: ${this.#endReason}.`, { code: 'agreement_ended' });
    }
    clearTimeout(this.#renewTimer);
    const call = { signal: AbortSignal.any([signal, this.#over.signal]), timeoutMs: this.#callMs() };
    try {
      this.#adopt(await this.#ask(call));
      this.#failedRenewals = 0;
    } catch (thrown) {
      const error = AppError.from(thrown);
      this.#renewalFailed(error);
      throw error;
    } finally {
      if (!this.#over.signal.aborted) this.#scheduleRenewal();
    }
  }

  async #ask(call: { signal: AbortSignal; timeoutMs: number }): Promise<Agreement> {
    const { responder } = this.#deps;
    const state = this.state === 'suspended' ? 'suspended' : 'active';
    try {
      return await responder.renew(this.ref, { leaseRevision: this.#agreement.lease_revision, state }, call);
    } catch (error) {
      if (!(error instanceof AppError) || refusalOf(error).kind !== 'behind') throw error;
      const current = await responder.get(this.ref, call);
      return await responder.renew(this.ref, { leaseRevision: current.lease_revision, state }, call);
    }
  }

  #adopt(agreement: Agreement): void {
    if (this.#endReason !== undefined) return;
    if (agreement.agreement_id !== this.agreementId || agreement.terms_digest !== this.termsDigest) {
      this.#viewsDiffer('the renewal answers other terms');
      return;
    }
    if (agreement.state === 'ended') {
      this.#finish(agreement.end_reason ?? 'released_by_responder');
      return;
    }
    this.#agreement = agreement;
    this.#expiresAt = Math.max(this.#expiresAt, this.#onOwnClock(agreement));
    this.#watchExpiry();
  }

  #renewalFailed(error: AppError): void {
    const { logger } = this.#deps;
    const fields = { agreement_id: this.agreementId, responder: this.agentId, code: error.code };
    if (this.#endReason !== undefined) return;
    if (refusalOf(error).kind === 'declined') {
      this.#renewalDeclined = true;
      logger.warn('The responder declined to renew the agreement; it runs out', fields);
      return;
    }
    if (this.#failedRenewals === 0) logger.warn('The agreement could not be renewed', { ...fields, error });
    this.#failedRenewals += 1;
    this.#heed(refusalOf(error), error);
  }

  #viewsDiffer(detail: string): void {
    if (this.#endReason !== undefined) return;
    const fields = { agreement_id: this.agreementId, responder: this.agentId, detail };
    this.#deps.logger.error('Both sides see the agreement differently; it ends', fields);
    void this.end('view_mismatch');
  }

  #scheduleRenewal(): void {
    clearTimeout(this.#renewTimer);
    if (this.#endReason !== undefined || this.#renewalDeclined) return;
    const { random, now } = this.#deps;
    const rest = this.#expiresAt - now();
    const third = (this.terms.lease.ttl_seconds * 1_000) / 3;
    const due =
      this.#failedRenewals === 0
        ? jitter(third, 0.1, random)
        : Math.min(backoffMs(this.#failedRenewals - 1, { ...RENEW_BACKOFF, random }), Math.max(rest / 3, 50));
    this.#renewTimer = timer(due, () => {
      // What went wrong is logged and acted on where it happened.
      this.renew().catch(() => undefined);
    });
  }

  #watchExpiry(): void {
    clearTimeout(this.#expiryTimer);
    const rest = this.#expiresAt - this.#deps.now();
    this.#expiryTimer = timer(rest, () => {
      // A machine that slept, or a longer lease than one timer can hold.
      if (this.#deps.now() < this.#expiresAt) this.#watchExpiry();
      else this.#finish(this.#renewalDeclined ? 'renewal_declined' : 'expired');
    });
  }

  /** Both times are the keeper's, so its clock may be wrong by any amount. */
  #onOwnClock(agreement: Agreement): number {
    return this.#grant.askedAt + Date.parse(agreement.expires_at) - Date.parse(agreement.created_at);
  }

  #callMs(): number {
    return Math.max(500, Math.min(CALL_MS, (this.terms.lease.ttl_seconds * 1_000) / 3));
  }

  #finish(reason: string): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    this.#endedAt = new Date(this.#deps.now()).toISOString();
    for (const one of [this.#renewTimer, this.#expiryTimer, this.#lapseTimer]) clearTimeout(one);
    this.#over.abort(new AppError('gone', `The agreement has ended: ${reason}.`, { code: 'agreement_ended' }));
    const { logger } = this.#deps;
    logger.info(`Agreement with ${this.agentId} ended: ${reason}`, { agreement_id: this.agreementId, reason });
    for (const listener of this.#listeners) {
      try {
        listener(reason);
      } catch (error) {
        logger.error('A listener failed', { error });
      }
    }
    this.#listeners.clear();
  }

  /** Ending must reach the other side, or it goes on working for nobody. */
  async #tell(reason: string, tellMs: number): Promise<string> {
    const { responder, random, logger } = this.#deps;
    const limit = deadline(tellMs);
    const call = { signal: limit.signal, timeoutMs: Math.min(CALL_MS, tellMs) };
    try {
      for (let attempt = 0; !limit.signal.aborted; attempt += 1) {
        try {
          const { end_reason: recorded } = await responder.end(this.ref, reason, call);
          if (recorded !== undefined) this.#endReason = recorded;
          return this.#endReason ?? reason;
        } catch (error) {
          if (!isTransient(error)) break;
          await wait(backoffMs(attempt, { ...TELL_BACKOFF, random }), limit.signal);
        }
      }
    } finally {
      limit.clear();
    }
    logger.warn(`${this.agentId} could not be told that the agreement has ended; its lease will end it`, {
      agreement_id: this.agreementId,
    });
    return this.#endReason ?? reason;
  }
}

function timer(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(Math.max(0, ms), MAX_TIMER_MS)).unref();
}
