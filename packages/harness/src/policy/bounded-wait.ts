/** The time for an answer was over. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';

  constructor() {
    super('no answer in time');
  }
}

/**
 * Waits for what `ask` gives, until `signal` is aborted or the time is over. The signal that `ask` gets is aborted
 * when nobody waits any longer. Leaves no timer and no listener behind; an answer that comes too late is dropped.
 *
 * @throws the signal's reason, WaitTimeoutError, or what `ask` threw.
 */
export async function boundedWait<T>(
  ask: (signal: AbortSignal) => Promise<T> | T,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<T> {
  signal.throwIfAborted();
  const question = new AbortController();
  const { promise, reject, resolve } = Promise.withResolvers<T>();
  const giveUp = (reason: unknown) => {
    reject(reason);
    question.abort(reason);
  };
  const onAbort = () => giveUp(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => giveUp(new WaitTimeoutError()), timeoutMs);
  try {
    // Asynchronous, so that what it throws at once takes the same way as what it throws later.
    const asked = (async () => ask(question.signal))();
    asked.then(resolve, reject);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
