import type { ServerCallContext } from '@a2a-js/sdk/server';
import { AppError } from '@parley/service-kit';
import type { A2aFailure } from './errors/a2a-failure.js';

export type Binding = 'jsonrpc' | 'rest' | 'grpc';

/** What a stream is written to; a response and a gRPC call both are one. */
export interface Sink {
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
}

export interface CallScopeOptions {
  readonly binding: Binding;
  /** Protocol 0.3. */
  readonly legacy: boolean;
  readonly sink: Sink;
  readonly slowReaderMs: number;
}

/** One call on any binding: who reads it, what came of it, and which extensions its answer names. */
export class CallScope {
  readonly binding: Binding;
  readonly legacy: boolean;
  /** Aborted when the reader has left or the server closes, with the reason to tell; the task does not end by that. */
  readonly signal: AbortSignal;
  context: ServerCallContext | undefined;
  failure: A2aFailure | undefined;
  /** False as long as only the wire was looked at: what fails until then is the request's fault. */
  reached = false;
  hasLeft = false;
  /**
   * Tells a failure inside of a stream that has begun, where the library would do it badly; false if none has.
   * The stream then ends for the library as if in order.
   */
  tellInStream: ((failure: A2aFailure) => boolean) | undefined;
  readonly #over = new AbortController();
  readonly #sink: Sink;
  readonly #slowReaderMs: number;

  constructor(options: CallScopeOptions) {
    this.binding = options.binding;
    this.legacy = options.legacy;
    this.signal = this.#over.signal;
    this.#sink = options.sink;
    this.#slowReaderMs = options.slowReaderMs;
    if (options.sink.destroyed) this.leave();
  }

  /** The reader has left. */
  leave(): void {
    this.hasLeft ||= !this.signal.aborted;
    this.#over.abort(new DOMException('The reader left.', 'AbortError'));
  }

  /** The server closes: a stream says so and ends. */
  shutDown(): void {
    this.#over.abort(new AppError('unavailable', 'The service is shutting down.', { code: 'shutting_down' }));
  }

  /**
   * Resolves when the reader has taken what was written, or is gone.
   *
   * @throws AppError `too_many_requests`, code `slow_reader`, when the reader takes nothing for too long.
   */
  async room(): Promise<void> {
    if (!this.#sink.writableNeedDrain || this.signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      const release = (): void => {
        clearTimeout(timer);
        this.#sink.off('drain', done);
        this.#sink.off('close', done);
        this.signal.removeEventListener('abort', done);
      };
      const done = (): void => {
        release();
        resolve();
      };
      const timer = setTimeout(() => {
        release();
        reject(new AppError('too_many_requests', 'The reader is too slow for this stream.', { code: 'slow_reader' }));
      }, this.#slowReaderMs);
      this.#sink.once('drain', done);
      this.#sink.once('close', done);
      this.signal.addEventListener('abort', done, { once: true });
    });
  }

  /** Headers, or gRPC metadata, that name the extensions in use; empty if there are none. */
  extensionHeaders(): readonly (readonly [string, string])[] {
    const activated = this.context?.activatedExtensions ?? [];
    if (activated.length === 0) return [];
    const value = activated.join(', ');
    const headers: (readonly [string, string])[] = [['A2A-Extensions', value]];
    if (this.legacy) headers.push(['X-A2A-Extensions', value]);
    return headers;
  }
}

/** The calls under way, so that closing the server can end their streams. */
export class OpenCalls {
  readonly #open = new Set<CallScope>();
  #closed = false;

  /** @returns what to call when the call is over: with whether its answer was complete, or else its reader has left. */
  add(scope: CallScope): (isComplete: boolean) => void {
    if (this.#closed) scope.shutDown();
    this.#open.add(scope);
    return (isComplete) => {
      this.#open.delete(scope);
      if (!isComplete) scope.leave();
    };
  }

  get size(): number {
    return this.#open.size;
  }

  close(): void {
    this.#closed = true;
    for (const scope of this.#open) scope.shutDown();
  }
}

/** Where a context carries its scope. Not in a WeakMap: what that knows outlives every small collection of garbage. */
const SCOPE = 'parley/call-scope';

export function bindScope(context: ServerCallContext, scope: CallScope): ServerCallContext {
  scope.context = context;
  context.state.set(SCOPE, scope);
  return context;
}

export function scopeOf(context: ServerCallContext): CallScope | undefined {
  const scope = context.state.get(SCOPE);
  return scope instanceof CallScope ? scope : undefined;
}

/**
 * Aborted when whoever reads the answer of this call has left. Ends a subscription, never a task.
 * Undefined for a context that was not made by this server.
 */
export function readerSignal(context: ServerCallContext): AbortSignal | undefined {
  return scopeOf(context)?.signal;
}
