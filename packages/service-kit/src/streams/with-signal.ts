/**
 * Waits for work until it settles or the signal aborts. Work that goes on after that is nobody's any more:
 * what it comes to, failures included, is dropped.
 *
 * @throws the signal's reason.
 */
export function withSignal<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      // Reasons are thrown as they are; ours are errors.
      reject(signal.reason as Error);
    };
    const settled = (): void => {
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
