import { AppError, type Logger } from '@parley/service-kit';
import type { Agreement } from '../wire/agreement.js';
import type { AgreementHandle } from './agreement-handle.js';
import type { LivingAgreement } from './living-agreement.js';
import { isEndReason } from './refusal.js';

export interface AgreementBookOptions {
  /** Living agreements at the same time. Default 10,000. */
  readonly maxAgreements?: number;
  readonly logger: Logger;
}

/** Ended agreements stay known, so that a responder that repeats itself gets the same answer. */
const MAX_ENDED = 256;

/** All agreements that an agent holds as their initiator. */
export class AgreementBook {
  readonly #living = new Map<string, LivingAgreement>();
  readonly #ended = new Map<string, LivingAgreement>();
  readonly #listeners = new Set<() => void>();
  readonly #onAdd = new Set<(agreement: AgreementHandle) => void>();
  readonly #max: number;
  readonly #logger: Logger;

  constructor(options: AgreementBookOptions) {
    this.#max = options.maxAgreements ?? 10_000;
    this.#logger = options.logger;
  }

  get size(): number {
    return this.#living.size;
  }

  list(): readonly AgreementHandle[] {
    return [...this.#living.values()];
  }

  get(agreementId: string): AgreementHandle | undefined {
    return this.#living.get(agreementId) ?? this.#ended.get(agreementId);
  }

  /** @throws AppError `too_many_requests`/`too_many_agreements`, before anybody is asked for another one. */
  ensureRoom(): void {
    if (this.#living.size < this.#max) return;
    throw new AppError('too_many_requests', 'The agent holds as many agreements as it may.', {
      code: 'too_many_agreements',
    });
  }

  add(agreement: LivingAgreement): void {
    this.#living.set(agreement.agreementId, agreement);
    agreement.onEnd(() => {
      this.#living.delete(agreement.agreementId);
      this.#ended.set(agreement.agreementId, agreement);
      const [oldest] = this.#ended.keys();
      if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
      this.#changed();
    });
    this.#changed();
    for (const listener of this.#onAdd) this.#guard(() => listener(agreement));
  }

  /**
   * The responder says that an agreement is over. Idempotent.
   * @returns the agreement with the first recorded reason.
   * @throws AppError `not_found`/`agreement_unknown`, also when the secret is not the responder's.
   */
  peerEnded(
    agreementId: string,
    input: { readonly proof: string | undefined; readonly reason?: string | undefined },
  ): Agreement {
    const agreement = this.#living.get(agreementId) ?? this.#ended.get(agreementId);
    if (agreement?.isResponder(input.proof) !== true) {
      throw new AppError('not_found', 'There is no such agreement.', { code: 'agreement_unknown' });
    }
    const { reason } = input;
    agreement.endedByPeer(reason !== undefined && isEndReason(reason) ? reason : 'released_by_responder');
    return agreement.snapshot();
  }

  /** The responders of all living agreements. */
  partners(): ReadonlySet<string> {
    return new Set([...this.#living.values()].map(({ agentId }) => agentId));
  }

  partnerLapsed(agentId: string): void {
    for (const agreement of this.#with(agentId)) agreement.partnerLapsed();
  }

  partnerBack(agentId: string): void {
    for (const agreement of this.#with(agentId)) agreement.partnerBack();
  }

  partnerGone(agentId: string): void {
    for (const agreement of this.#with(agentId)) void agreement.end('party_deregistered');
  }

  /** Ends all of them; the responders are told within `withinMs`. */
  async endAll(reason: string, withinMs: number): Promise<void> {
    const ending = [...this.#living.values()].map((agreement) => agreement.endWithin(reason, withinMs));
    await Promise.allSettled(ending);
  }

  /** Called after every change of who is in the book. Returns a function that takes it back. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Called with every agreement that enters the book. Returns a function that takes it back. */
  onAdd(listener: (agreement: AgreementHandle) => void): () => void {
    this.#onAdd.add(listener);
    return () => {
      this.#onAdd.delete(listener);
    };
  }

  #with(agentId: string): LivingAgreement[] {
    return [...this.#living.values()].filter((agreement) => agreement.agentId === agentId);
  }

  #changed(): void {
    for (const listener of this.#listeners) this.#guard(listener);
  }

  #guard(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#logger.error('A listener failed', { error });
    }
  }
}
