import { deadline } from '../peer/deadline.js';
import { orAborted } from '../peer/wait.js';

/** Waits until all have ended, however, at most so long. Never rejects. */
export async function settleWithin(work: readonly Promise<unknown>[], ms: number): Promise<void> {
  const limit = deadline(ms);
  try {
    await orAborted(Promise.allSettled(work), limit.signal, () => limit.signal.reason);
  } catch {
    // The time is over.
  } finally {
    limit.clear();
  }
}
