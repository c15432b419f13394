import { setImmediate } from 'node:timers/promises';
import { AppError } from '@parley/service-kit/base';

/** @throws AppError `cancelled`, `deadline_exceeded` for a deadline's signal, or the AppError that was the reason. */
export function stopIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  const reason: unknown = signal.reason;
  if (reason instanceof AppError) throw reason;
  if ((reason as { name?: unknown } | null)?.name === 'TimeoutError') {
    throw new AppError('deadline_exceeded', 'The work was given up at its deadline.', { cause: reason });
  }
  throw new AppError('cancelled', 'The work was cancelled before it was done.', { cause: reason });
}

/**
 * Between two pieces of computing: lets the event loop turn once, so that heartbeats go out and an abort can
 * arrive at all, then stops if it did.
 */
export async function checkpoint(signal: AbortSignal): Promise<void> {
  stopIfAborted(signal);
  await setImmediate();
  stopIfAborted(signal);
}
