import { peerTimeout } from '../peer/peer-errors.js';

/** Aborts when nothing was heard for too long: a dead connection otherwise looks like a quiet one. */
export interface SilenceGuard {
  readonly signal: AbortSignal;
  readonly heard: () => void;
  readonly stop: () => void;
}

export function silenceGuard(silenceMs: number, outer: AbortSignal): SilenceGuard {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(peerTimeout(silenceMs));
  }, silenceMs);
  timer.unref();
  const follow = (): void => {
    controller.abort(outer.reason);
  };
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    heard: () => {
      timer.refresh();
    },
    stop: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', follow);
      // Whoever stopped listening no longer wants the connection either.
      controller.abort(peerTimeout(silenceMs));
    },
  };
}
