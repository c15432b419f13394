interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const KEPT_SAMPLES = 8;

/** Redis' clock without asking: this machine's plus an offset learned from every answer. */
export class StoreClock {
  readonly #localNow: () => number;
  #samples: Sample[] = [];
  #best: Sample | undefined;

  constructor(localNow: () => number) {
    this.#localNow = localNow;
  }

  localNow(): number {
    return this.#localNow();
  }

  /** False until the first answer; the local clock stands in until then. */
  get known(): boolean {
    return this.#best !== undefined;
  }

  now(): number {
    return this.#localNow() + (this.#best?.offsetMs ?? 0);
  }

  /**
   * An answer said `storeMs`; the question left at `sentAt`. The quickest of the last answers says it best, but an
   * answer that contradicts it means that a clock was set: then only the new one counts.
   */
  learn(storeMs: number, sentAt: number): void {
    const receivedAt = this.#localNow();
    const roundTripMs = receivedAt - sentAt;
    // The store wrote the time somewhere between; it cuts off fractions.
    const sample = { offsetMs: storeMs + 0.5 - (sentAt + receivedAt) / 2, roundTripMs };
    const best = this.#best;
    const apart = best === undefined ? 0 : Math.abs(best.offsetMs - sample.offsetMs);
    if (best !== undefined && apart > (best.roundTripMs + roundTripMs) / 2 + 100) this.#samples = [];
    this.#samples.push(sample);
    if (this.#samples.length > KEPT_SAMPLES) this.#samples.shift();
    this.#best = this.#samples.reduce((quickest, each) => (each.roundTripMs < quickest.roundTripMs ? each : quickest));
  }
}
