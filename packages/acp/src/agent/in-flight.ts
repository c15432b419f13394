/** Counts work that goes on. */
export class InFlight {
  #count = 0;
  #idle = Promise.withResolvers<undefined>();

  async track<T>(work: () => Promise<T> | T): Promise<T> {
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
      if (this.#count === 0) {
        this.#idle.resolve(undefined);
        this.#idle = Promise.withResolvers<undefined>();
      }
    }
  }

  /** Resolves when nothing goes on. */
  idle(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : this.#idle.promise;
  }
}
