/** Counts how often the same call came in a row, over all turns of a run. */
export class RepeatGuard {
  #runId: string | undefined;
  #last: string | undefined;
  #count = 0;

  /** @param limit The call that would be this many in a row is refused. */
  constructor(private readonly limit: number) {}

  /** Starts from zero. */
  reset(runId: string): void {
    this.#runId = runId;
    this.#last = undefined;
    this.#count = 0;
  }

  /** Starts from zero if the run is another one. */
  enter(runId: string): void {
    if (runId !== this.#runId) this.reset(runId);
  }

  /** True if such a call, coming now, would reach the limit. Counts nothing. */
  wouldRefuse(name: string, canonicalArguments: string): boolean {
    return this.#countWith(callKey(name, canonicalArguments)) >= this.limit;
  }

  /** Counts a call that comes now. */
  count(name: string, canonicalArguments: string): void {
    const key = callKey(name, canonicalArguments);
    this.#count = this.#countWith(key);
    this.#last = key;
  }

  /** What the model and the run are told. */
  refusal(name: string): string {
    return `tool '${name}' was called with the same arguments ${this.limit} consecutive times`;
  }

  #countWith(key: string): number {
    return key === this.#last ? this.#count + 1 : 1;
  }
}

function callKey(name: string, canonicalArguments: string): string {
  return `${name}\n${canonicalArguments}`;
}
