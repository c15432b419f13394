type Settle = (reached: boolean) => void;

/** Lets a write wait until its own replica shows it. */
export class RevisionGate {
  /** By the revision waited for: many writes wait at once, and each line of the log ends the wait of few. */
  readonly #waiting = new Map<number, Set<Settle>>();
  #reached = 0;

  get reached(): number {
    return this.#reached;
  }

  advance(revision: number): void {
    const before = this.#reached;
    this.#reached = revision;
    if (revision === before + 1) this.#settle(revision, true);
    else for (const each of this.#waiting.keys()) if (each <= revision) this.#settle(each, true);
  }

  /** True when reached, false after the time-out or once the gate is closed. */
  wait(revision: number, timeoutMs: number): Promise<boolean> {
    if (revision <= this.#reached) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(revision) ?? new Set<Settle>();
      const settle: Settle = (reached) => {
        clearTimeout(timer);
        waiters.delete(settle);
        if (waiters.size === 0) this.#waiting.delete(revision);
        resolve(reached);
      };
      const timer = setTimeout(settle, timeoutMs, false);
      waiters.add(settle);
      this.#waiting.set(revision, waiters);
    });
  }

  /** Nobody waits for what will not come any more. */
  close(): void {
    for (const revision of this.#waiting.keys()) this.#settle(revision, false);
  }

  #settle(revision: number, reached: boolean): void {
    for (const settle of this.#waiting.get(revision) ?? []) settle(reached);
  }
}
