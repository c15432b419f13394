/** A signal that follows another and has a time limit; whoever made it calls `release` when the work is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  release(): void;
}

/** @param text message of the error with which the signal is aborted when the time is over */
export function deadlineOf(outer: AbortSignal, timeoutMs: number, text: string): Deadline {
  const controller = new AbortController();
  const follow = (): void => controller.abort(outer.reason);
  const timer = setTimeout(() => controller.abort(new Error(text)), timeoutMs);
  outer.addEventListener('abort', follow, { once: true });
  if (outer.aborted) follow();
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', follow);
    },
  };
}
