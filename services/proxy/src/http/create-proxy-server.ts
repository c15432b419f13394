import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connections } from '@parley/service-kit';
import { answerBrokenRequests } from './wire/broken-requests.js';

export interface ProxyServerOptions {
  readonly app: RequestListener;
  /** How long a connection may idle. Default 90,000 ms: pollers that come every 5, 25 or 60 s never race with it. */
  readonly keepAliveMs?: number;
  /** How long a request may take to arrive, its body included. Default 120,000 ms: 32 MiB at 2.2 Mbit/s. */
  readonly requestTimeoutMs?: number;
}

export interface ProxyServer {
  readonly server: Server;
  /** @returns the port in use. @throws when the port is taken. */
  listen(port: number, host: string): Promise<number>;
  /** Takes no new connections and waits for what is in flight; what is left after the grace is cut. */
  close(graceMs: number): Promise<void>;
}

const MAX_HEAD_BYTES = 32 * 1024;
const MAX_CONNECTIONS = 8_192;

export function createProxyServer(options: ProxyServerOptions): ProxyServer {
  const keepAliveTimeout = options.keepAliveMs ?? 90_000;
  const requestTimeout = options.requestTimeoutMs ?? 120_000;
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout,
    requestTimeout,
    // Above the idle time: a head that begins just before the connection would be closed has its time.
    headersTimeout: Math.min(requestTimeout, keepAliveTimeout + 5_000),
    // The default looks only every 30 s.
    connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    requireHostHeader: false,
  });
  server.maxConnections = MAX_CONNECTIONS;
  const connections = new Connections(server);
  server.on('request', (request, response) => {
    connections.track(request, response);
    options.app(request, response);
  });
  // An expectation that is not known is no reason to refuse a request that can be answered.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  answerBrokenRequests(server, (socket) => connections.pending(socket));
  return {
    server,
    listen: (port, host) => listen(server, port, host),
    close: (graceMs) => connections.close(graceMs),
  };
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}
