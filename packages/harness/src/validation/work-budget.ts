/** Checking the arguments would have taken too long. */
export class TooMuchWorkError extends Error {
  override readonly name = 'TooMuchWorkError';

  constructor() {
    super('too much work');
  }
}

/**
 * What one check may cost. Compiled validators run synchronously and nothing can interrupt them from outside, so
 * they count their own steps: schemas and arguments come from strangers, and together they can be made exponential.
 */
export class WorkBudget {
  #left = 0;

  /** Begins a check with so many steps; one step is about 10 to 50 ns. */
  reset(steps: number): void {
    this.#left = steps;
  }

  /** @throws TooMuchWorkError */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWorkError();
  }
}
