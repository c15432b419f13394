import { ABORTED_EXIT_CODE } from '../stop-signals.js';

/** The first Ctrl-C drains, the second leaves; SIGTERM and SIGHUP leave at once. */
export class Stopping {
  readonly #drain = new AbortController();
  readonly #leave = new AbortController();
  exitCode = 0;

  /** Aborted: nothing new is begun. */
  get drained(): AbortSignal {
    return this.#drain.signal;
  }

  /** Aborted: nothing is played to its end. */
  get left(): AbortSignal {
    return this.#leave.signal;
  }

  /** @returns true if turns in play go on. */
  stop(code: number): boolean {
    const isFirst = !this.#drain.signal.aborted;
    if (code !== ABORTED_EXIT_CODE || !isFirst) {
      this.leave(code);
      return false;
    }
    this.exitCode = code;
    this.#drain.abort();
    return true;
  }

  leave(code: number): void {
    this.exitCode = code;
    this.#drain.abort();
    this.#leave.abort();
  }
}
