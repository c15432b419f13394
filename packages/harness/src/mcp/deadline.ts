/** Node's timers cannot wait longer; for requests whose end is decided elsewhere. */
export const LONGEST_WAIT_MS = 2_147_483_647;

export interface Deadline {
  readonly ms: number;
  readonly error: () => Error;
}

/**
 * Gives `work` a signal of its own, aborted with `parent` or when the time is over. Rejects at that moment, even if
 * `work` does not; then nobody waits for it any more. Leaves no timer and no listener behind.
 */
export async function withDeadline<T>(
  parent: AbortSignal,
  deadline: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted();
  const controller = new AbortController();
  const stopped = Promise.withResolvers<never>();
  const stop = (reason: unknown): void => {
    stopped.reject(reason);
    controller.abort(reason);
  };
  const onAbort = (): void => stop(parent.reason);
  const timer = setTimeout(() => stop(deadline.error()), deadline.ms);
  parent.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work(controller.signal), stopped.promise]);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', onAbort);
  }
}
