/**
 * Resolves after `ms`, or as soon as the signal is aborted; never rejects, so the caller looks at the signal.
 * Does not keep the process alive.
 */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(0, ms), MAX_TIMER_MS));
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
  });
}

/** A longer time would make `setTimeout` fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Gives up on a promise when the signal is aborted: rejects with what `reason` makes of it.
 * The promise itself goes on; its later outcome is swallowed.
 */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal, reason: () => unknown): Promise<T> {
  promise.catch(() => undefined);
  let cancel: (() => void) | undefined;
  const gone = new Promise<never>((_, reject) => {
    cancel = (): void => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever the caller made of it
      reject(reason());
    };
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
  });
  try {
    return await Promise.race([promise, gone]);
  } finally {
    if (cancel !== undefined) signal.removeEventListener('abort', cancel);
  }
}
