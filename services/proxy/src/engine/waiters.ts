/** Calls that wait for one thing to happen. Whatever ends a wait, nothing of it is left: no timer, no listener. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Until it happens, the time is over (undefined: never) or the signal aborts; which of them is no matter. */
  wait(timeoutMs: number | undefined, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const end = (): void => {
        this.#waiting.delete(end);
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      this.#waiting.add(end);
      if (timeoutMs !== undefined) timer = setTimeout(end, timeoutMs);
      signal?.addEventListener('abort', end);
    });
  }

  wake(): void {
    for (const end of this.#waiting) end();
  }
}
