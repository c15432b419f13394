import type { AppError } from '@parley/service-kit';
import { peerTimeout } from './peer-errors.js';
import { MAX_TIMER_MS } from './wait.js';

export interface Deadline {
  /** Aborted when the time is over (reason: an AppError `peer_timeout`) or the outer signal is. */
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  readonly expired: () => boolean;
  /** To be called in any case: frees the timer and the listener; the signal is never aborted afterwards. */
  readonly clear: () => void;
}

export function deadline(ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let over: AppError | undefined;
  const timer = setTimeout(
    () => {
      over = peerTimeout(ms);
      controller.abort(over);
    },
    Math.min(Math.max(0, ms), MAX_TIMER_MS),
  );
  timer.unref();
  const follow = (): void => {
    controller.abort(outer?.reason);
  };
  if (outer?.aborted === true) follow();
  else outer?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    expired: () => over !== undefined && controller.signal.reason === over,
    clear: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
