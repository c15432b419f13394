/** Why the pulling ended: the source had no more, or the signal aborted. */
export type PullEnd = 'ended' | 'aborted';

const ABORTED = Symbol('aborted');

/**
 * Hands the items of a source to `use`, one after the other, until the source ends or the signal aborts,
 * also while the source is silent: an iterator alone would only notice at its next item. The source is
 * told to return in every case; a source that is waiting for something has to watch the same signal to stop at once.
 *
 * @throws what the source or `use` throws.
 */
export async function pullItems<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
  use: (item: T) => Promise<void> | void,
): Promise<PullEnd> {
  const iterator = source[Symbol.asyncIterator]();
  // One slot, not one race per item: a race would leave a reaction at the signal for every item.
  let wake: ((value: typeof ABORTED) => void) | undefined;
  const onAbort = (): void => wake?.(ABORTED);
  const next = (): Promise<IteratorResult<T> | typeof ABORTED> =>
    new Promise((resolve, reject) => {
      wake = resolve;
      iterator.next().then(resolve, reject);
    });
  let started = false;
  let finished = false;
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      started = true;
      const result = await next();
      if (result === ABORTED) return 'aborted';
      if (result.done === true) {
        finished = true;
        return 'ended';
      }
      // It may have aborted in the moment between.
      if (!isAborted(signal)) await use(result.value);
    }
    return 'aborted';
  } catch (error) {
    // A reader that left while `use` waited for it is no failure of the source.
    if (isAborted(signal)) return 'aborted';
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!finished) release(iterator, started);
  }
}

/** Read anew: the compiler takes it for unchanged since it was last looked at. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Not waited for: a generator answers only after the item it is waiting for. */
function release(iterator: AsyncIterator<unknown>, started: boolean): void {
  const ignore = (): void => undefined;
  // Returned before its first item, a generator skips its own clean-up of what was opened for it.
  if (!started) iterator.next().then(ignore, ignore);
  iterator.return?.().then(ignore, ignore);
}
