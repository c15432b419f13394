/**
 * Whether a run was asked to stop, by whomever: the signal of its request, its own `cancel`, or the end of its provider.
 * Stays as it is once it was asked. Whoever makes one has to unlink it, or a listener stays on the signal.
 */
export class CancelLatch {
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.stop(this.outer.reason);

  constructor(private readonly outer: AbortSignal) {
    if (outer.aborted) this.#onAbort();
    else outer.addEventListener('abort', this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** The outer signal has no hold on it any more. Idempotent. */
  unlink(): void {
    this.outer.removeEventListener('abort', this.#onAbort);
  }
}
