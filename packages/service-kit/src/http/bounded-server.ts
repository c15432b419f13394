import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerBrokenRequests, type BrokenRequestAnswer } from './broken-requests.js';
import { Connections } from './connections.js';

export interface BoundedServerOptions {
  readonly maxHeadBytes: number;
  /** How long a connection may idle. */
  readonly keepAliveMs: number;
  /** How long a request may take to arrive, its body included. */
  readonly requestTimeoutMs: number;
  /** How long its head may take, from the moment at which the connection was last free. */
  readonly headTimeoutMs: number;
  /** Also gets requests without a Host, which node would refuse by itself with an empty 400. */
  readonly onRequest: RequestListener;
  /** For an `Expect` other than 100-continue. */
  readonly onUnknownExpectation: RequestListener;
  /** What to say to what node cannot parse. */
  readonly onBrokenRequest: (error: Error & { readonly code?: string }) => BrokenRequestAnswer;
}

/** A server whose every request and connection has a bound, and an end. */
export interface BoundedServer {
  readonly server: Server;
  /** @returns the port in use. @throws when the port is taken. */
  listen(port: number, host: string): Promise<number>;
  /** From now on connections end with their next answer; for the time between "not ready" and `close`. */
  drain(): void;
  /**
   * Takes no new connections and waits for what is in flight; idle connections close at once, and what is left
   * after the grace is cut. Called again, the shorter grace counts.
   */
  close(graceMs: number): Promise<void>;
}

export function createBoundedServer(options: BoundedServerOptions): BoundedServer {
  const { requestTimeoutMs: requestTimeout } = options;
  const server = createServer({
    maxHeaderSize: options.maxHeadBytes,
    keepAliveTimeout: options.keepAliveMs,
    requestTimeout,
    headersTimeout: options.headTimeoutMs,
    // The default looks only every 30 s.
    connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    requireHostHeader: false,
  });
  const connections = new Connections(server);
  const tracked =
    (listener: RequestListener): RequestListener =>
    (request, response) => {
      connections.track(request, response);
      listener(request, response);
    };
  server.on('request', tracked(options.onRequest));
  server.on('checkExpectation', tracked(options.onUnknownExpectation));
  answerBrokenRequests(server, (socket) => connections.pending(socket), options.onBrokenRequest);
  return {
    server,
    listen: (port, host) => listen(server, port, host),
    drain: () => {
      connections.drain();
    },
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
