import type { Logger } from '@parley/service-kit';
import type { AgreementKeeper } from '../agreements/index.js';
import type { AgreementBook } from '../initiator/index.js';
import type { RegistryClient } from '../registry-client/index.js';
import { PartnerWatch } from './partner-watch.js';

export interface PartnersOptions {
  readonly self: string;
  readonly keeper: Pick<AgreementKeeper, 'onEvent' | 'list' | 'suspendFor' | 'resumeFor' | 'endFor'>;
  readonly book: AgreementBook;
  readonly logger: Logger;
  readonly absenceGraceMs: number;
  /** Whether others write to the keeper's store too: then it is read from time to time. */
  readonly sharedStore: boolean;
  readonly onConnection: (registry: string, up: boolean) => void;
}

/** How often a shared store is looked at for agreements that others made. */
const REFRESH_MS = 60_000;
/** Agreements read from a shared store at most. */
const MAX_PAGES = 20;

/** Binds agreements, in both roles, to the registrations of those they are with. */
export class Partners {
  readonly #options: PartnersOptions;
  /** Initiators of agreements kept here, by agreement. */
  readonly #initiators = new Map<string, string>();
  /** How many agreements there are with each initiator. */
  readonly #counts = new Map<string, number>();
  readonly #unsubscribe: (() => void)[] = [];
  #watch: PartnerWatch | undefined;
  #refreshing: NodeJS.Timeout | undefined;

  constructor(options: PartnersOptions) {
    this.#options = options;
    this.#unsubscribe.push(
      options.keeper.onEvent(({ type, agreement }) => {
        if (type === 'ended') this.#released(agreement.agreement_id);
        else this.#kept(agreement.agreement_id, agreement.terms.initiator);
      }),
      options.book.onChange(() => {
        this.#follow();
      }),
    );
    if (options.sharedStore) {
      void this.#refresh();
      this.#refreshing = setInterval(() => void this.#refresh(), REFRESH_MS).unref();
    }
  }

  /** Only the first registry counts; the watch is opened when there is somebody to watch. */
  watchAt(client: RegistryClient): void {
    if (this.#watch !== undefined) return;
    const { keeper, book, logger, absenceGraceMs, onConnection } = this.#options;
    const act = (what: string, work: () => Promise<unknown>): void => {
      work().catch((error: unknown) => {
        logger.warn(`Agreements could not be ${what}; their leases will end them`, { error });
      });
    };
    this.#watch = new PartnerWatch({
      client,
      logger,
      absenceGraceMs,
      listener: {
        connection: (up) => {
          onConnection(client.target, up);
        },
        lapsed: (agentId) => {
          logger.info(`The registration of ${agentId} lapsed; agreements with it are suspended`);
          book.partnerLapsed(agentId);
          act('suspended', () => keeper.suspendFor(agentId));
        },
        back: (agentId, sameOwner) => {
          logger.info(`${agentId} is registered again`, { same_owner: sameOwner });
          book.partnerBack(agentId);
          act('resumed', () => keeper.resumeFor(agentId, { sameOwner }));
        },
        gone: (agentId) => {
          logger.info(`${agentId} deregistered; agreements with it end`);
          book.partnerGone(agentId);
          act('ended', () => keeper.endFor(agentId, 'party_deregistered'));
        },
      },
    });
    this.#follow();
  }

  stop(): void {
    clearInterval(this.#refreshing);
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#watch?.stop();
  }

  #kept(agreementId: string, initiator: string): void {
    if (this.#initiators.has(agreementId)) return;
    this.#initiators.set(agreementId, initiator);
    this.#counts.set(initiator, (this.#counts.get(initiator) ?? 0) + 1);
    if (initiator !== this.#options.self) this.#watch?.add(initiator);
  }

  #released(agreementId: string): void {
    const initiator = this.#initiators.get(agreementId);
    if (initiator === undefined) return;
    this.#initiators.delete(agreementId);
    const left = (this.#counts.get(initiator) ?? 1) - 1;
    if (left > 0) {
      this.#counts.set(initiator, left);
      return;
    }
    this.#counts.delete(initiator);
    if (!this.#options.book.partners().has(initiator)) this.#watch?.remove(initiator);
  }

  #follow(): void {
    const all = new Set([...this.#counts.keys(), ...this.#options.book.partners()]);
    all.delete(this.#options.self);
    this.#watch?.follow(all);
  }

  async #refresh(): Promise<void> {
    const { keeper, logger } = this.#options;
    try {
      const found = new Map<string, string>();
      for (const state of ['pending', 'active', 'suspended'] as const) {
        let cursor: string | undefined;
        for (let page = 0; page < MAX_PAGES; page += 1) {
          const { agreements, next_cursor } = await keeper.list({ state, limit: 500, cursor });
          for (const { agreement_id, terms } of agreements) found.set(agreement_id, terms.initiator);
          cursor = next_cursor;
          if (cursor === undefined) break;
        }
      }
      this.#initiators.clear();
      this.#counts.clear();
      for (const [id, initiator] of found) this.#kept(id, initiator);
      this.#follow();
    } catch (error) {
      logger.debug('The store of agreements could not be read', { error });
    }
  }
}
