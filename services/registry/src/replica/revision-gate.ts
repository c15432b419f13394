interface Waiter {
  readonly revision: number;
  readonly settle: (reached: boolean) => void;
}

/** Lets a write wait until its own replica shows it. */
export class RevisionGate {
  readonly #waiters = new Set<Waiter>();
  #reached = 0;

  get reached(): number {
    return this.#reached;
  }

  advance(revision: number): void {
    this.#reached = revision;
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.settle(true);
  }

  /** True when reached, false after the time-out or once the gate is closed. */
  wait(revision: number, timeoutMs: number): Promise<boolean> {
    if (revision <= this.#reached) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        revision,
        settle: (reached) => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve(reached);
        },
      };
      const timer = setTimeout(waiter.settle, timeoutMs, false);
      this.#waiters.add(waiter);
    });
  }

  /** Nobody waits for what will not come any more. */
  close(): void {
    for (const waiter of this.#waiters) waiter.settle(false);
  }
}
