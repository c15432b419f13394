import type { RequestListener } from 'node:http';
import { createBoundedServer, type BoundedServer } from '@parley/service-kit';
import { brokenRequestAnswer } from './wire/broken-requests.js';

export interface ProxyServerOptions {
  readonly app: RequestListener;
  /** How long a connection may idle. Default 90,000 ms: pollers that come every 5, 25 or 60 s never race with it. */
  readonly keepAliveMs?: number;
  /** How long a request may take to arrive, its body included. Default 120,000 ms: 32 MiB at 2.2 Mbit/s. */
  readonly requestTimeoutMs?: number;
}

const MAX_HEAD_BYTES = 32 * 1024;
const MAX_CONNECTIONS = 8_192;

export function createProxyServer({
  app,
  keepAliveMs = 90_000,
  requestTimeoutMs = 120_000,
}: ProxyServerOptions): BoundedServer {
  const bounded = createBoundedServer({
    maxHeadBytes: MAX_HEAD_BYTES,
    keepAliveMs,
    requestTimeoutMs,
    // Above the idle time: a head that begins just before the connection would be closed has its time.
    headTimeoutMs: Math.min(requestTimeoutMs, keepAliveMs + 5_000),
    onRequest: app,
    // An expectation that is not known is no reason to refuse a request that can be answered.
    onUnknownExpectation: app,
    onBrokenRequest: ({ code }) => brokenRequestAnswer(code),
  });
  bounded.server.maxConnections = MAX_CONNECTIONS;
  return bounded;
}
