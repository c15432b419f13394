/** Node's own timers end at once when asked for more. */
const LONGEST_MS = 2_147_483_647;

/**
 * Calls back after any time, also one of weeks; never for Infinity. Returns what takes it back.
 *
 * @param holdsProcess Whether a process with nothing else to do waits for it. Default true.
 */
export function startTimer(timeoutMs: number, onTime: () => void, holdsProcess = true): () => void {
  const deadline = performance.now() + timeoutMs;
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    const left = deadline - performance.now();
    timer = left > LONGEST_MS ? setTimeout(next, LONGEST_MS) : setTimeout(onTime, Math.max(1, left));
    if (!holdsProcess) timer.unref();
  };
  if (timeoutMs !== Infinity) next();
  return () => {
    clearTimeout(timer);
  };
}

/** Waits for an event, at most for a time. Resolves with whether it came, well or not; never rejects. */
export async function within(timeoutMs: number, event: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = startTimer(timeoutMs, () => resolve(false));
  const came = await Promise.race([
    event.then(
      () => true,
      () => true,
    ),
    promise,
  ]);
  stop();
  return came;
}
