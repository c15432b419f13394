/** Node's own timers end at once when asked for more. */
const LONGEST_MS = 2_147_483_647;

/** Calls back after any time, never for Infinity. Returns what takes it back. */
export function startTimer(timeoutMs: number, onTime: () => void): () => void {
  if (timeoutMs === Infinity) return () => undefined;
  const deadline = performance.now() + timeoutMs;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    const leftMs = deadline - performance.now();
    if (leftMs > LONGEST_MS) timer = setTimeout(next, LONGEST_MS);
    else timer = setTimeout(onTime, Math.max(0, leftMs));
  };
  next();
  return () => {
    clearTimeout(timer);
  };
}

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

/** Waits for an event, at most for a time. Resolves with whether it came; never rejects. */
export async function within(timeoutMs: number, event: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stopTimer = startTimer(timeoutMs, () => resolve(false));
  const came = await Promise.race([
    event.then(
      () => true,
      () => true,
    ),
    promise,
  ]);
  stopTimer();
  return came;
}
