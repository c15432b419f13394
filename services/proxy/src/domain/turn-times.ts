const MICROSECONDS = 1000;

/**
 * Times of facts: milliseconds since the epoch with microseconds as fraction, each later than the one before, so that
 * they also say the order. The clock may stand still or be set back; these go on.
 */
export class TurnTimes {
  #last = 0;

  constructor(private readonly clock: () => number) {}

  now(): number {
    this.#last = Math.max(Math.round(this.clock() * MICROSECONDS), this.#last + 1);
    return this.#last / MICROSECONDS;
  }

  /** All times from here on are later than this one. */
  startAfter(at: number): void {
    this.#last = Math.max(this.#last, Math.round(at * MICROSECONDS));
  }
}
