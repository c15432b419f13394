/**
 * What `work` gives, or a rejection with the signal's reason as soon as it is aborted; what `work` does after that is
 * left to `late`.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  late: (value: T) => void = () => undefined,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => {
    work.then(late, () => undefined);
    reject(errorOf(signal.reason));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException('The operation was aborted', 'AbortError');
}
