import { messageOf } from '../errors.js';
import type { HarnessLogger } from '../logger.js';
import type { RunObserver } from '../run-observer.js';

type Around<T> = (observer: RunObserver, work: () => Promise<T>) => Promise<T>;

/**
 * Does `work` inside all observers, the first one outermost. The outcome is always that of `work`, done once: an
 * observer that throws, answers something else or forgets to call it is logged at most.
 */
export function observed<T>(
  observers: readonly RunObserver[],
  around: Around<T>,
  work: () => Promise<T>,
  logger: HarnessLogger,
): Promise<T> {
  return observers.reduceRight<() => Promise<T>>(
    (inner, observer) => () => wrapped(observer, around, inner, logger),
    work,
  )();
}

async function wrapped<T>(
  observer: RunObserver,
  around: Around<T>,
  inner: () => Promise<T>,
  logger: HarnessLogger,
): Promise<T> {
  let outcome: Promise<T> | null = null;
  const once = (): Promise<T> => (outcome ??= inner());
  let thrown: { readonly error: unknown } | null = null;
  try {
    await around(observer, once);
  } catch (error) {
    thrown = { error };
  }
  try {
    const value = await once();
    if (thrown !== null) logger.warn('a run observer failed', { error: messageOf(thrown.error) });
    return value;
  } catch (error) {
    if (thrown !== null && thrown.error !== error) {
      logger.warn('a run observer failed', { error: messageOf(thrown.error) });
    }
    throw error;
  }
}
