import { once, type EventEmitter } from 'node:events';
import { AppError } from '../errors/app-error.js';

/**
 * Waits until a writable has room again.
 *
 * @throws AppError `too_many_requests`, code `slow_reader`, when the reader takes nothing for `slowReaderMs`; else the signal's reason.
 */
export async function drained(writable: EventEmitter, signal: AbortSignal, slowReaderMs: number): Promise<void> {
  const giveUp = new AbortController();
  const onAbort = (): void => {
    giveUp.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => {
    giveUp.abort(new AppError('too_many_requests', 'The reader is too slow for this stream.', { code: 'slow_reader' }));
  }, slowReaderMs);
  try {
    await once(writable, 'drain', { signal: giveUp.signal });
  } catch (error) {
    throw giveUp.signal.aborted ? giveUp.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
