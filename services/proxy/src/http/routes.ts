import type { JsonObject } from '../domain/facts.js';

export type RouteMethod = 'GET' | 'POST' | 'DELETE';

export interface RouteCall {
  /** Of the body, or of the query string where there is no body. */
  readonly fields: JsonObject;
  /** Aborts when the caller goes. */
  readonly signal: AbortSignal;
}

/** One operation of the wire: takes fields, gives what is answered as JSON with 200. */
export interface ProxyRoute {
  readonly method: RouteMethod;
  readonly path: string;
  readonly summary: string;
  /** Needs the control token, where one is set. */
  readonly isControl?: true;
  /** @throws Refusal, TransferFailure */
  handle(call: RouteCall): unknown;
}
