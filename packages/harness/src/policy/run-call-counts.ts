/** Runs remembered at most: a policy may be shared by many agents, and nobody tells it that a run is over. */
const MAX_RUNS = 10_000;

/**
 * Counts calls per run and rule. Counting and comparing are one synchronous step, so calls that run at the same
 * time cannot both take the last place.
 */
export class RunCallCounts {
  readonly #runs = new Map<string, Map<string, number>>();

  /** False if `limit` calls were counted already. */
  reserve(runId: string, ruleId: string, limit: number): boolean {
    const counts = this.#countsOf(runId);
    const count = counts.get(ruleId) ?? 0;
    if (count >= limit) return false;
    counts.set(ruleId, count + 1);
    return true;
  }

  reset(runId: string): void {
    this.#runs.delete(runId);
  }

  #countsOf(runId: string): Map<string, number> {
    const counts = this.#runs.get(runId) ?? new Map<string, number>();
    // Putting it back at the end keeps the runs in use; the first is the one unused for longest.
    this.#runs.delete(runId);
    this.#runs.set(runId, counts);
    if (this.#runs.size > MAX_RUNS) {
      for (const oldest of this.#runs.keys()) {
        this.#runs.delete(oldest);
        break;
      }
    }
    return counts;
  }
}
