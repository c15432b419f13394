import { SessionLockTimeoutError } from './session-errors.js';

interface Waiter {
  readonly grant: () => void;
}

export interface MutexWait {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; 0 does not wait. */
  readonly waitMs: number;
}

/** A timer that is asked for more fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One holder at a time within this process, first come, first served. */
export class Mutex {
  #held = false;
  readonly #waiters = new Set<Waiter>();

  /** Nobody holds it or waits for it. */
  get idle(): boolean {
    return !this.#held;
  }

  /** @throws SessionLockTimeoutError after `waitMs`, or the reason of the signal. */
  async acquire({ signal, waitMs }: MutexWait): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#held) {
      this.#held = true;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#waiters.delete(waiter);
        end();
      };
      const waiter: Waiter = { grant: () => settle(resolve) };
      const onAbort = () => settle(() => reject(signal?.reason as Error));
      const onTimeout = () => settle(() => reject(new SessionLockTimeoutError('the session is in use')));
      const timer = setTimeout(onTimeout, Math.min(waitMs, LONGEST_TIMER_MS));
      signal?.addEventListener('abort', onAbort);
      this.#waiters.add(waiter);
    });
  }

  release(): void {
    const [next] = this.#waiters;
    // Handed on without becoming free in between, so that a newcomer cannot jump the queue.
    if (next === undefined) this.#held = false;
    else next.grant();
  }
}
