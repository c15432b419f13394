import type { ReplicaStatus } from './core-types.js';

export interface ContactOptions {
  /** This machine's clock, for how long the store has been away. */
  readonly now: () => number;
  /** The store's clock as far as it is known. */
  readonly storeNow: () => number;
  readonly maxStaleMs: number;
  /** Without a sign of life for so long, contact counts as lost even if nothing has failed. */
  readonly silenceMs: number;
}

/**
 * When this replica last knew everything, and what that makes of its answers. The clock that reads go by follows the
 * store's while there is contact and stands still without it: nobody can renew then, so nobody expires either.
 */
export class Contact {
  readonly #options: ContactOptions;
  #asOf: { readonly storeMs: number; readonly localMs: number } | undefined;
  #lost = false;

  constructor(options: ContactOptions) {
    this.#options = options;
  }

  /** The catalogue is known to be current now. */
  confirmed(): void {
    this.#asOf = { storeMs: this.#options.storeNow(), localMs: this.#options.now() };
    this.#lost = false;
  }

  lost(): void {
    this.#lost = true;
  }

  /** The store's clock when the catalogue was last current. */
  get asOfMs(): number | undefined {
    return this.#asOf?.storeMs;
  }

  readNowMs(): number {
    const { storeNow, silenceMs } = this.#options;
    if (this.#asOf === undefined) return storeNow();
    return this.#lost ? this.#asOf.storeMs : Math.min(storeNow(), this.#asOf.storeMs + silenceMs);
  }

  status(revision: number): ReplicaStatus {
    if (this.#asOf === undefined) return { state: 'starting' };
    const away = this.#options.now() - this.#asOf.localMs;
    if (!this.#lost && away <= this.#options.silenceMs) return { state: 'live', revision };
    const state = away > this.#options.maxStaleMs ? 'unavailable' : 'stale';
    return { state, revision, staleSinceMs: this.#asOf.storeMs };
  }
}
