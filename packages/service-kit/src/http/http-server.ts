import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AppError } from '../errors/app-error.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { answerBrokenRequests, hasNoHost } from './broken-requests.js';
import { requestIdOf } from './call-context.js';
import { Connections } from './connections.js';
import { fromHttpLibrary, logFailure, sendProblem } from './problem-response.js';
import type { HttpRoute } from './routes.js';
import { CheckedInputs, mountRoutes, serveRoute } from './serve-route.js';

export { sendAnswer } from './serve-route.js';

export interface HttpServerOptions {
  readonly routes: readonly HttpRoute[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default 64 KiB; a longer body is 413. */
  readonly maxBodyBytes?: number;
  /** How long an operation may take. Default 20,000 ms. */
  readonly deadlineMs?: number;
  /** How long a request may take to arrive, its body included. Default 30,000 ms; its head has two thirds of that. */
  readonly requestTimeoutMs?: number;
  /** Adds routes that are no operations (health, watch, pages); called before the operations are mounted. */
  readonly extend?: (app: Express) => void;
}

export interface RunningHttpServer {
  readonly server: Server;
  readonly app: Express;
  /** @returns the port in use. @throws when the port is taken. */
  listen(port: number, host: string): Promise<number>;
  /**
   * Takes no new connections and waits for what is in flight; idle connections close at once, and what is left
   * after the grace is cut. Called again, the shorter grace counts.
   */
  close(graceMs: number): Promise<void>;
}

/** Longer than the idle time of common balancers and pollers (60 s), which would meet a connection just closed. */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEAD_BYTES = 16 * 1024;

/** An HTTP server for operations: JSON in and out, every error a problem body (RFC 9457), everything bounded. */
export function createHttpServer(options: HttpServerOptions): RunningHttpServer {
  const app = createApp(options);
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout,
    headersTimeout: Math.ceil((requestTimeout * 2) / 3),
    // The default looks only every 30 s.
    connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    // Answered below: node would send an empty 400.
    requireHostHeader: false,
  });
  const connections = new Connections(server);
  const fast = new Map<string, FastRoute>();
  for (const route of options.routes) {
    if (route.fast !== true) continue;
    const inputs = route.body === undefined ? new CheckedInputs() : undefined;
    fast.set(`${route.method.toUpperCase()} ${route.path}`, { route, inputs });
  }
  server.on('request', (request, response) => {
    connections.track(request, response);
    receive(request, response, app, fast, options);
  });
  server.on('checkExpectation', (request, response) => {
    connections.track(request, response);
    sendProblem(
      response,
      new AppError('invalid_request', 'The only expectation known is 100-continue.'),
      requestIdOf(request),
    );
  });
  answerBrokenRequests(server, options.logger, (socket) => connections.pending(socket));
  return {
    server,
    app,
    listen: (port, host) => listen(server, port, host),
    close: (graceMs) => connections.close(graceMs),
  };
}

function createApp(options: HttpServerOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use((request: Request, response: Response, next: NextFunction) => {
    const requestId = requestIdOf(request);
    response.locals['requestId'] = requestId;
    response.setHeader('X-Request-Id', requestId);
    next();
  });
  options.extend?.(app);
  mountRoutes(app, options);
  app.use(() => {
    throw new AppError('not_found', 'There is nothing at this path.', { code: 'no_such_route' });
  });
  app.use((thrown: unknown, request: Request, response: Response, _next: NextFunction) => {
    // Express knows an error handler by its four parameters.
    const requestId = (response.locals['requestId'] as string | undefined) ?? requestIdOf(request);
    const route = (request.route as { readonly path?: unknown } | undefined)?.path;
    refuse(thrown, request, response, requestId, options, typeof route === 'string' ? route : 'unmatched');
  });
  return app;
}

interface FastRoute {
  readonly route: HttpRoute;
  readonly inputs: CheckedInputs | undefined;
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  app: Express,
  fast: ReadonlyMap<string, FastRoute>,
  options: HttpServerOptions,
): void {
  if (hasNoHost(request)) {
    const error = new AppError('invalid_request', 'The Host header field is missing.');
    refuse(error, request, response, requestIdOf(request), options, 'unmatched');
    return;
  }
  const found = fast.get(`${request.method ?? ''} ${pathOf(request)}`);
  if (found === undefined) {
    app(request, response);
    return;
  }
  const { route, inputs } = found;
  nameSpan(request.method ?? '', route.path);
  void serveRoute(route, request, response, options, {
    requestId: requestIdOf(request),
    params: {},
    body: undefined,
    inputs,
  });
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '';
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** What express would tell the span of the request. */
function nameSpan(method: string, route: string): void {
  trace.getActiveSpan()?.setAttribute('http.route', route).updateName(`${method} ${route}`);
}

function refuse(
  thrown: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { logger, metrics }: HttpServerOptions,
  route: string,
): void {
  const error = fromHttpLibrary(thrown);
  logFailure(logger, request, error, requestId);
  sendProblem(response, error, requestId);
  metrics.httpRequest(request.method ?? '', route, error.status, 0);
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
