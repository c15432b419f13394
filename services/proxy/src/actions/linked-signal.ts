import { DeadlineError } from './mcp-errors.js';

/** Beyond this a timer fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Takes its listeners off the sources and stops its timer. */
  readonly release: () => void;
}

/** Aborts with the first of the sources, or with a `DeadlineError` when the time is over (at most 24 days). */
export function linkSignals(sources: readonly AbortSignal[], timeoutMs: number): LinkedSignal {
  const controller = new AbortController();
  const links = sources.map((source) => ({
    source,
    listener: () => {
      controller.abort(source.reason);
    },
  }));
  const timer = setTimeout(
    () => {
      controller.abort(new DeadlineError('the time is over'));
    },
    Math.max(0, Math.min(timeoutMs, MAX_TIMER_MS)),
  );
  for (const { source, listener } of links) {
    if (source.aborted) listener();
    else source.addEventListener('abort', listener);
  }
  const release = (): void => {
    clearTimeout(timer);
    for (const { source, listener } of links) source.removeEventListener('abort', listener);
  };
  return { signal: controller.signal, release };
}

/** The compiler takes a signal for one that stays as it was when it was last looked at. */
export function hasAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
