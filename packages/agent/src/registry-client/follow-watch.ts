import { AppError } from '@parley/service-kit';
import { backoffMs } from '../peer/backoff.js';
import { wait } from '../peer/wait.js';
import type { WatchOptions } from './registry-client.js';
import type { WatchEvent } from './wire.js';

export interface WatchConnection {
  /** Revision to resume after; undefined: begin with a snapshot. */
  readonly afterRevision: number | undefined;
  readonly signal: AbortSignal;
  /** To be called when the registry has accepted the watch. */
  readonly opened: () => void;
}

export interface FollowOptions extends WatchOptions {
  readonly random: () => number;
  readonly now: () => number;
  /** Opens one connection; ends or throws when it is lost. */
  readonly open: (connection: WatchConnection) => AsyncIterable<WatchEvent>;
}

const BACKOFF = { baseMs: 200, capMs: 10_000 };
/** A connection that lived this long was a good one: the next loss begins with a short wait again. */
const GOOD_CONNECTION_MS = 5_000;

/** One endless watch out of many connections: resumes where it was, passes nothing twice, and says when it begins anew. */
export async function* followWatch(options: FollowOptions): AsyncGenerator<WatchEvent> {
  const { signal } = options;
  const place = new WatchPlace(options.afterRevision);
  let failures = 0;
  let isUp: boolean | undefined;
  const connection = (up: boolean, cause?: unknown): void => {
    if (isUp === up) return;
    isUp = up;
    options.onConnection?.(up, cause);
  };
  while (!signal.aborted) {
    const openedAt = options.now();
    let cause: unknown;
    try {
      const opened = (): void => {
        connection(true);
      };
      for await (const event of options.open({ afterRevision: place.resumeAfter, signal, opened })) {
        if (place.take(event)) yield event;
      }
    } catch (error) {
      cause = error;
      if (cannotResume(error)) place.reset();
    }
    if (isAborted(signal)) return;
    connection(false, cause);
    if (options.now() - openedAt >= GOOD_CONNECTION_MS) failures = 0;
    await wait(backoffMs(failures, { ...BACKOFF, random: options.random }), signal);
    failures += 1;
  }
}

// Narrowing does not know that an await lies between.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** A place the registry does not know, or an event that cannot be read: asking for the same again would never end. */
function cannotResume(error: unknown): boolean {
  return (
    error instanceof AppError &&
    (error.reason === 'gone' || error.reason === 'invalid_request' || error.code === 'peer_invalid_answer')
  );
}

/** Where a watch stands in the change log. */
export class WatchPlace {
  #revision: number | undefined;
  #inSnapshot = false;

  constructor(afterRevision: number | undefined) {
    this.#revision = afterRevision;
  }

  get resumeAfter(): number | undefined {
    return this.#revision;
  }

  reset(): void {
    this.#revision = undefined;
    this.#inSnapshot = false;
  }

  /** Takes note of an event; false when it came before. */
  take(event: WatchEvent): boolean {
    if (event.type === 'resync') {
      this.reset();
      return true;
    }
    if (event.type === 'snapshot') {
      // All pieces carry one revision: half a snapshot is no place to resume from.
      this.#inSnapshot = event.complete !== true;
      this.#revision = this.#inSnapshot ? undefined : event.revision;
      return true;
    }
    if (this.#inSnapshot) return true;
    if (this.#revision !== undefined && event.revision <= this.#revision) return false;
    this.#revision = event.revision;
    return true;
  }
}
