import { startTimer, within } from '@parley/shell';

export interface WaitLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What is thrown when the time is over. */
  readonly timeoutError: () => Error;
  /** What is thrown when the signal is aborted. */
  readonly abortError: () => Error;
}

/** What `work` gives, unless the signal is aborted or the time is over before. Leaves no timer and no listener. */
export async function waitFor<T>(work: Promise<T>, limits: WaitLimits): Promise<T> {
  const { signal, timeoutMs, timeoutError, abortError } = limits;
  // Nobody else may be there for what it still becomes.
  work.catch(() => undefined);
  if (signal.aborted) throw abortError();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(abortError());
  signal.addEventListener('abort', onAbort, { once: true });
  const stopTimer = startTimer(timeoutMs, () => reject(timeoutError()));
  try {
    return await Promise.race([work, promise]);
  } finally {
    stopTimer();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Whether `work` has come to a good end when the time is over. Never rejects. */
export async function succeedsWithin(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
  const isGood = work.then(
    () => true,
    () => false,
  );
  return (await within(timeoutMs, isGood)) && (await isGood);
}
