import type { Agreement, AgreementEvent, AgreementKeeper, NegotiationPolicy, NegotiationResponse } from '@parley/agent';
import { AppError, type Logger } from '@parley/service-kit';
import { Refusal } from '../domain/facts.js';
import { alreadyClaimed } from '../domain/refusals.js';
import type { ProxyEngine } from '../engine/index.js';
import type { ShownAgreement } from './agreement-headers.js';

export type ClaimableEngine = Pick<ProxyEngine, 'claim' | 'release' | 'claimed'>;

const LEASED = 'This proxy is played exclusively under another agreement.';
const CLAIMED = 'This proxy is claimed by a driver without an agreement.';

/**
 * Whose the proxy is while agreements say so: one at a time, its driver's from its first message to its end, and free
 * again after it.
 */
export class DriverLease {
  /** Agreements that have not ended: one, or none. */
  readonly #living = new Set<string>();
  readonly #releases = new Set<Promise<void>>();
  #keeper: AgreementKeeper | undefined;

  constructor(
    private readonly engine: ClaimableEngine,
    private readonly logger: Logger,
  ) {}

  /** Frees a proxy that was claimed under an agreement that is over: of an earlier process, or one not freed at its end. */
  async releaseForgotten(): Promise<void> {
    const agreementId = this.engine.claimed?.agreementId;
    if (agreementId !== undefined && !this.#living.has(agreementId)) await this.engine.release(agreementId);
  }

  /** To be called before the first negotiation. */
  follow(keeper: AgreementKeeper): void {
    this.#keeper = keeper;
    keeper.onEvent((event) => {
      this.#changed(event);
    });
  }

  /** A proxy that is somebody's by a token alone is not to be had: nothing says when it will be free. */
  readonly policy: NegotiationPolicy = () =>
    this.#isClaimedBare() ? { allow: false, code: 'capacity', publicDetail: CLAIMED } : { allow: true };

  /** Says why there was no place. */
  explained(answer: NegotiationResponse): NegotiationResponse {
    const { reason } = answer;
    if (reason?.code !== 'capacity' || reason.detail === CLAIMED) return answer;
    return { ...answer, reason: { ...reason, detail: LEASED } };
  }

  /**
   * Claims for a driver, under the agreement that it shows.
   *
   * @throws Refusal as the engine does; 401 for an agreement that is none of the caller's, 409 for one that has ended.
   */
  async claim(token: string, shown: ShownAgreement | undefined): Promise<void> {
    await this.releaseForgotten();
    if (shown === undefined) await this.#claimBare(token);
    else await this.#claimUnder(token, shown);
  }

  /** Resolves when what has ended so far has been released. */
  async settled(): Promise<void> {
    await Promise.all(this.#releases);
  }

  async #claimBare(token: string): Promise<void> {
    if (this.engine.claimed === undefined && this.#living.size > 0) throw alreadyClaimed();
    await this.engine.claim(token);
    // Agreed on while the claim was written down: whoever claimed first has it.
    if (this.#isClaimedBare()) for (const id of this.#living) this.#giveUp(id);
  }

  async #claimUnder(token: string, { agreementId, proof }: ShownAgreement): Promise<void> {
    await this.#inForce(agreementId, proof);
    await this.engine.claim(token, { agreementId });
    // It may have ended while the claim was written down, and was released too early.
    if (this.#living.has(agreementId)) return;
    await this.engine.release(agreementId);
    throw new Refusal(409, 'the agreement has ended');
  }

  /** What can be agreed on here is `playable`, exclusively: an agreement in force is one of those. */
  async #inForce(agreementId: string, proof: string): Promise<void> {
    const keeper = this.#keeper;
    if (keeper === undefined) throw unknownAgreement();
    try {
      const { state, terms_digest: termsDigest, end_reason: reason } = await keeper.get(agreementId, { proof });
      if (state === 'ended') throw new Refusal(409, `the agreement has ended: ${reason ?? 'its time is over'}`);
      if (state === 'suspended') throw new Refusal(503, 'the agreement is suspended until its party is back');
      await keeper.confirm(agreementId, { proof, termsDigest });
    } catch (error) {
      throw refusalOf(error);
    }
  }

  #isClaimedBare(): boolean {
    const { claimed } = this.engine;
    return claimed !== undefined && claimed.agreementId === undefined;
  }

  #changed({ type, agreement }: AgreementEvent): void {
    const { agreement_id: id } = agreement;
    if (type === 'ended') {
      this.#living.delete(id);
      this.#release(agreement);
      return;
    }
    this.#living.add(id);
    if (type === 'agreed' && this.#isClaimedBare()) this.#giveUp(id);
  }

  #release({ agreement_id: id, end_reason: reason }: Agreement): void {
    const released = this.engine.release(id).catch((error: unknown) => {
      this.logger.error('A claim could not be released', { agreement_id: id, end_reason: reason, error });
    });
    this.#releases.add(released);
    void released.finally(() => this.#releases.delete(released));
  }

  #giveUp(agreementId: string): void {
    this.#keeper?.end(agreementId, { internal: true, reason: 'released_by_responder' }).catch((error: unknown) => {
      this.logger.warn('An agreement that cannot be kept could not be ended', { agreement_id: agreementId, error });
    });
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  switch (error.reason) {
    case 'not_found':
      return unknownAgreement();
    case 'gone':
      return new Refusal(409, 'the agreement has ended');
    case 'unavailable':
      return new Refusal(503, 'the agreement cannot be looked at now; try again');
    default:
      return error;
  }
}

function unknownAgreement(): Refusal {
  return new Refusal(401, "the agreement isn't known here, or its proof is wrong");
}
