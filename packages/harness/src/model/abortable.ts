/**
 * The value of `work`, or a rejection with the signal's reason as soon as that is aborted. What `work` does after
 * that is nobody's business any more: its late failure is swallowed. No listener stays behind.
 */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) work.catch(() => undefined);
  stopIfAborted(signal);
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Throws what {@link reasonOf} gives if the signal is aborted. */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/** What to throw for an aborted signal: its reason, wrapped if that is no Error. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}
