import { abortable } from './abortable.js';
import { ModelTimeoutError } from './model-errors.js';

/**
 * The life of one request on the wire: what waits for it ends when the caller aborts or time is up. It has a signal of
 * its own, so that nobody below hangs listeners on the caller's, which may live as long as the process.
 */
export class RequestAttempt {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #abort = (): void => this.#controller.abort(this.#caller.reason);

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    if (caller.aborted) this.#abort();
    else caller.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get abortedByCaller(): boolean {
    return this.#caller.aborted;
  }

  /**
   * Waits for `work` as long as it may take. The clock runs only meanwhile: a reader that takes its time is no silence
   * of the server.
   *
   * @throws ModelTimeoutError, the caller's reason, or what `work` throws.
   */
  async within<T>(ms: number, expected: string, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.#controller.abort(
        new ModelTimeoutError(`the model server has not ${expected} within ${ms} ms`, { transient: true }),
      );
    }, ms);
    try {
      return await abortable(work, this.#controller.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets go of the caller's signal. The connection stays usable. */
  release(): void {
    this.#caller.removeEventListener('abort', this.#abort);
  }

  /** Lets go of the caller's signal and closes the connection, if it is still busy. */
  close(): void {
    this.release();
    this.#controller.abort();
  }
}
