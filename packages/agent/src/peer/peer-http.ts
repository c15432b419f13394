import type { z } from 'zod';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface PeerHttpOptions {
  /** Longest time for a whole call, answer included. Default 5,000. */
  readonly timeoutMs?: number;
  /** Longest time to open a connection. Default 3,000, never longer than the call. */
  readonly connectTimeoutMs?: number;
  /** Larger answers are refused. Default 65,536. */
  readonly maxAnswerBytes?: number;
  /**
   * Whether private and loopback addresses may be called; that is where clusters live. Default true.
   * Link-local, metadata, unspecified, multicast and broadcast addresses are refused in any case.
   */
  readonly allowPrivateAddresses?: boolean;
  /** Default `parley-agent`. */
  readonly userAgent?: string;
  /** Connections at the same time to one origin; more calls wait within their deadline. Default 64. */
  readonly maxConnectionsPerOrigin?: number;
  /** Headers for every call made now, for example `traceparent`. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

export interface PeerRequest<T> {
  readonly method: HttpMethod;
  readonly url: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The shape of a good answer; one without a body is checked as `undefined`. */
  readonly schema: z.ZodType<T>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
  /**
   * Whether the call may be sent a second time when an idle connection turns out to have been closed by the peer.
   * Default: true for GET, PUT and DELETE; a POST that names itself (session, call id) may say so.
   */
  readonly repeatable?: boolean;
}

export interface PeerAnswer<T> {
  /** 200-299: everything else is thrown. */
  readonly status: number;
  readonly body: T;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PeerStreamRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Longest time until the head of the answer; the stream itself has none. */
  readonly timeoutMs?: number;
}

/**
 * Calls other agents and the registry over HTTP with JSON: no redirects, bounded answers, a deadline on
 * every call, and every resolved address checked at call time.
 */
export interface PeerHttp {
  /**
   * @throws AppError the peer's own problem with its code; or `peer_unreachable` (unavailable), `peer_timeout`
   * (deadline_exceeded), `peer_invalid_answer` (bad_gateway), `target_refused` (forbidden), `cancelled`.
   */
  request<T>(request: PeerRequest<T>): Promise<PeerAnswer<T>>;
  /**
   * A GET whose answer goes on, as server-sent events do. Ends when `signal` is aborted.
   * @throws AppError as `request` does, also while it is being read.
   */
  openStream(request: PeerStreamRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Ends all connections; calls under way fail. */
  close(): Promise<void>;
}
