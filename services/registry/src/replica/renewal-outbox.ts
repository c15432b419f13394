import type { Logger } from '@parley/service-kit';
import type { Renewal } from '../domain/types.js';
import type { RegistryStore } from '../store/store.js';

const MAX_WAITING = 10_000;
const MAX_BATCH = 1_000;

/**
 * Tells the other replicas which leases were renewed here, a few times a second instead of once per heartbeat. A batch
 * that cannot be sent is dropped: the others ask for a deadline before they believe that it has passed.
 */
export class RenewalOutbox {
  readonly #store: RegistryStore;
  readonly #logger: Logger;
  readonly #waiting = new Map<string, Renewal>();

  constructor(options: { readonly store: RegistryStore; readonly logger: Logger }) {
    this.#store = options.store;
    this.#logger = options.logger;
  }

  add(renewal: Renewal): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(renewal.agentId, renewal);
  }

  async flush(): Promise<void> {
    const renewals = [...this.#waiting.values()];
    this.#waiting.clear();
    try {
      for (let at = 0; at < renewals.length; at += MAX_BATCH) {
        await this.#store.publishRenewals(renewals.slice(at, at + MAX_BATCH));
      }
    } catch (error) {
      this.#logger.debug('Renewals were not passed on', { count: renewals.length, error });
    }
  }
}
