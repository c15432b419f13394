/** Lets one piece of work in at a time, in the order in which they came. */
export class TurnGate {
  #last: Promise<void> | undefined;

  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const mine = promise.then(() => undefined);
    this.#last = mine;
    if (before !== undefined) await before;
    try {
      return await work();
    } finally {
      if (this.#last === mine) this.#last = undefined;
      resolve(undefined);
    }
  }
}
