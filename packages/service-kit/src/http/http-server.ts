import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { trace } from '@opentelemetry/api';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AppError } from '../errors/app-error.js';
import { toProblem } from '../errors/problem.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { createBoundedServer, type BoundedServer } from './bounded-server.js';
import { hasNoHost, type BrokenRequestAnswer } from './broken-requests.js';
import { requestIdOf } from './call-context.js';
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

export interface RunningHttpServer extends BoundedServer {
  readonly app: Express;
}

/** Longer than the idle time of common balancers and pollers (60 s), which would meet a connection just closed. */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEAD_BYTES = 16 * 1024;

/** An HTTP server for operations: JSON in and out, every error a problem body (RFC 9457), everything bounded. */
export function createHttpServer(options: HttpServerOptions): RunningHttpServer {
  const app = createApp(options);
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const fast = new Map<string, FastRoute>();
  for (const route of options.routes) {
    if (route.fast !== true) continue;
    const inputs = route.body === undefined ? new CheckedInputs() : undefined;
    fast.set(`${route.method.toUpperCase()} ${route.path}`, { route, inputs });
  }
  const bounded = createBoundedServer({
    maxHeadBytes: MAX_HEAD_BYTES,
    keepAliveMs: KEEP_ALIVE_MS,
    requestTimeoutMs: requestTimeout,
    headTimeoutMs: Math.ceil((requestTimeout * 2) / 3),
    onRequest: (request, response) => receive(request, response, app, fast, options),
    onUnknownExpectation: (request, response) => {
      const error = new AppError('invalid_request', 'The only expectation known is 100-continue.');
      sendProblem(response, error, requestIdOf(request));
    },
    onBrokenRequest: (error) => brokenRequestAnswer(error, options.logger),
  });
  return { ...bounded, app };
}

function brokenRequestAnswer(error: Error & { readonly code?: string }, logger: Logger): BrokenRequestAnswer {
  const problem = brokenRequestProblem(error.code);
  const requestId = randomUUID();
  logger.debug('request refused', { request_id: requestId, code: problem.code, detail: problem.message, error });
  return {
    status: problem.status,
    headers: {
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
    },
    body: JSON.stringify(toProblem(problem, requestId)),
  };
}

function brokenRequestProblem(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The header fields are larger than 16 KiB.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('payload_too_large', 'The chunk extensions of the body are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive in time.');
    default:
      return new AppError('invalid_request', 'This is not a valid HTTP request.');
  }
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
