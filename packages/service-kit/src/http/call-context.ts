import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallContext } from '../operation.js';
import { withSignal } from '../streams/with-signal.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's id for a request when it is well formed, else a new one. */
export function requestIdFrom(given: unknown): string {
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** The caller's `X-Request-Id` when it is well formed, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  return requestIdFrom(request.headers['x-request-id']);
}

export function bearerOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return /^Bearer +([^\s]{1,512}) *$/i.exec(value)?.[1];
}

/** Aborts when the connection closes before the answer is out, or when the deadline passes. */
export class HttpCall implements CallContext {
  readonly requestId: string;
  readonly transport = 'http' as const;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #deadlineMs: number;
  #controller: AbortController | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, requestId: string, deadlineMs: number) {
    this.requestId = requestId;
    this.#request = request;
    this.#response = response;
    this.#deadlineMs = deadlineMs;
  }

  /** Made when somebody asks: many calls are answered at once and need none. The deadline counts from then. */
  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const response = this.#response;
    if (response.destroyed) controller.abort(new DOMException('The caller left.', 'AbortError'));
    else if (!response.writableFinished) {
      const timer = setTimeout(() => {
        controller.abort(new DOMException('The deadline of the call passed.', 'TimeoutError'));
      }, this.#deadlineMs);
      response.once('close', () => {
        clearTimeout(timer);
        if (!response.writableFinished) controller.abort(new DOMException('The caller left.', 'AbortError'));
      });
    }
    return controller.signal;
  }

  /** Waits for work no longer than the caller or the deadline does, whether the work heeds the signal or not. */
  within<T>(work: PromiseLike<T>): Promise<T> {
    return withSignal(work, this.signal);
  }

  get bearer(): string | undefined {
    return bearerOf(this.#request.headers.authorization);
  }

  readonly header = (name: string): string | undefined => {
    const { headers } = this.#request;
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return Array.isArray(value) ? value[0] : value;
  };
}
