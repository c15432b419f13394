const ABORTED = Symbol('aborted');

/**
 * Waits for work until it settles or the signal aborts. Work that goes on after that is nobody's any more:
 * what it comes to, failures included, is dropped.
 *
 * @throws the signal's reason.
 */
export async function withSignal<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<typeof ABORTED>((resolve) => {
    onAbort = () => {
      resolve(ABORTED);
    };
  });
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    const first = await Promise.race([aborted, work]);
    if (first === ABORTED) throw signal.reason;
    return first;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
