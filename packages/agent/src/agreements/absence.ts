import type { Logger } from '@parley/service-kit';
import type { AgreementRecord } from './agreement-record.js';
import { isMass } from './mass-guard.js';
import { deadlineOf } from './transitions.js';

export interface AbsenceOptions {
  readonly now: () => number;
  readonly logger: Logger;
  readonly living: () => Promise<readonly AgreementRecord[]>;
  /** Gives an agreement one more lease. */
  readonly spare: (record: AgreementRecord) => Promise<unknown>;
}

/**
 * Notices that the keeper itself was away (its store unreachable, its process stopped), so that nobody could renew.
 * When it is back and more than half of the agreements, at least five, ran out meanwhile, they get one more lease.
 * Fewer than that end as they would have.
 */
export class Absence {
  readonly #options: AbsenceOptions;
  #presentAt: number;
  #awaySince: number | undefined;
  #settling: Promise<void> | undefined;

  constructor(options: AbsenceOptions) {
    this.#options = options;
    this.#presentAt = options.now();
  }

  present(): void {
    this.#presentAt = this.#options.now();
  }

  /** @param since Default: when it was last known to be present. */
  away(since = this.#presentAt): void {
    this.#awaySince = Math.min(this.#awaySince ?? since, since);
  }

  /** To be awaited before anything is ended because of a deadline. */
  settle(): Promise<void> {
    if (this.#awaySince === undefined) return Promise.resolve();
    this.#settling ??= this.#spareThoseWhoCouldNotRenew(this.#awaySince).finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  async #spareThoseWhoCouldNotRenew(since: number): Promise<void> {
    const { now, living, spare, logger } = this.#options;
    const all = await living();
    const ranOut = all.filter((record) => {
      const deadline = deadlineOf(record);
      return deadline?.reason === 'expired' && deadline.at > since && deadline.at <= now();
    });
    if (isMass(ranOut.length, all.length)) {
      logger.warn('Agreements that ran out while their keeper was away get one more lease', {
        count: ranOut.length,
        away_ms: now() - since,
      });
      for (const record of ranOut) await spare(record);
    }
    this.#awaySince = undefined;
  }
}
