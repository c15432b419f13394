/** Resolves after the time or as soon as the signal aborts, whichever is first; keeps no process alive. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Waits for a promise, but not longer than `ms`; what becomes of it later is ignored. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([promise, delay(ms, over.signal)]);
  } finally {
    over.abort();
    promise.catch(() => undefined);
  }
}
