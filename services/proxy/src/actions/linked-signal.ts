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

/** The promise, or the signal's reason if that comes first; what the promise does then is nobody's concern. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let listener: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    listener = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (listener !== undefined) signal.removeEventListener('abort', listener);
    promise.catch(() => undefined);
  }
}

/** The compiler takes a signal for one that stays as it was when it was last looked at. */
export function hasAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
