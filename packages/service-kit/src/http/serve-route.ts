import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request, Response } from 'express';
import { AppError } from '../errors/app-error.js';
import { validate } from '../errors/validate.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { isPromiseLike } from '../streams/with-signal.js';
import { HttpCall } from './call-context.js';
import { fromHttpLibrary, logFailure, sendProblem } from './problem-response.js';
import { readJsonBody } from './read-json-body.js';
import type { HttpAnswer, HttpRoute } from './routes.js';

const MAX_BODY_BYTES = 64 * 1024;
const DEADLINE_MS = 20_000;

export interface ServeOptions {
  readonly routes: readonly HttpRoute[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly maxBodyBytes?: number;
  readonly deadlineMs?: number;
}

/** Mounts operations, and for each of their paths what OPTIONS and the methods it does not know answer. */
export function mountRoutes(app: Express, options: ServeOptions): void {
  const paths = new Map<string, Set<string>>();
  for (const route of options.routes) {
    const methods = paths.get(route.path) ?? new Set();
    methods.add(route.method.toUpperCase());
    paths.set(route.path, methods);
    app[route.method](route.path, (request: Request, response: Response) =>
      serveRoute(route, request, response, options, {
        requestId: response.locals['requestId'] as string,
        params: request.params as Record<string, string>,
        // A middleware of the service may have read it already.
        body: request.body as unknown,
      }),
    );
  }
  for (const [path, methods] of paths) mountAllow(app, path, methods);
}

/** What a path answers to OPTIONS and to methods that it does not know; to be mounted after those it knows. */
export function mountAllow(app: Express, path: string, methods: ReadonlySet<string>): void {
  const allow = [...methods, ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  app.all(path, (request: Request, response: Response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') throw new AppError('method_not_allowed', `This path knows ${allow}.`);
    response.status(204).end();
  });
}

export interface Arrived {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  /** Undefined: not read yet. */
  readonly body: unknown;
  /** For a route whose input is its URL alone: what was checked for the same URL before. */
  readonly inputs?: CheckedInputs | undefined;
}

const MAX_REMEMBERED_INPUTS = 2_048;
const MAX_REMEMBERED_URL_LENGTH = 512;

/**
 * Checked inputs by URL. Reading and checking a query costs as much as a quick operation, and pollers ask the same
 * again and again. Operations do not change their input.
 */
export class CheckedInputs {
  readonly #byUrl = new Map<string, unknown>();

  get(url: string): unknown {
    return this.#byUrl.get(url);
  }

  set(url: string, input: unknown): void {
    if (url.length > MAX_REMEMBERED_URL_LENGTH) return;
    if (this.#byUrl.size >= MAX_REMEMBERED_INPUTS) this.#byUrl.clear();
    this.#byUrl.set(url, input);
  }
}

/** Carries one request through its operation and answers it, whatever happens. Never rejects. */
export async function serveRoute(
  route: HttpRoute,
  request: IncomingMessage,
  response: ServerResponse,
  options: ServeOptions,
  { requestId, params, body, inputs }: Arrived,
): Promise<void> {
  const started = performance.now();
  let status = 500;
  try {
    const url = request.url ?? '';
    let input = inputs?.get(url);
    if (input === undefined) {
      const raw = route.input({
        params,
        query: queryOf(url),
        body: route.body === undefined ? undefined : (body ?? (await bodyOf(route, request, options))),
      });
      input = validate<unknown>(route.operation.input, raw, route.fieldNames);
      inputs?.set(url, input);
    }
    const call = new HttpCall(request, response, requestId, options.deadlineMs ?? DEADLINE_MS);
    const work: unknown = route.operation.handle(input, call);
    const output = (isPromiseLike(work) ? await call.within(work) : work) as never;
    const answer: HttpAnswer = route.answer?.(output) ?? { status: 200, body: output };
    sendAnswer(response, answer, requestId);
    status = answer.status;
  } catch (thrown) {
    const error = fromHttpLibrary(thrown, response.destroyed);
    status = error.status;
    logFailure(options.logger, request, error, requestId);
    sendProblem(response, error, requestId);
  } finally {
    options.metrics.httpRequest(request.method ?? '', route.path, status, (performance.now() - started) / 1_000);
  }
}

function queryOf(url: string): URLSearchParams {
  const at = url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : url.slice(at + 1));
}

async function bodyOf(route: HttpRoute, request: IncomingMessage, options: ServeOptions): Promise<unknown> {
  const body = await readJsonBody(request, options.maxBodyBytes ?? MAX_BODY_BYTES);
  if (body === undefined && route.body === 'required') {
    throw new AppError('invalid_request', 'A JSON body is required.', { errors: [{ path: '', message: 'required' }] });
  }
  return body;
}

/** Sends an answer in one piece; nothing is sent when it cannot be written as JSON. */
export function sendAnswer(response: ServerResponse, answer: HttpAnswer, requestId?: string): void {
  const text = typeof answer.body === 'object' ? JSON.stringify(answer.body) : answer.body;
  const headers: Record<string, string | number> = requestId === undefined ? {} : { 'X-Request-Id': requestId };
  if (text === undefined) {
    response.writeHead(answer.status, { ...headers, ...answer.headers });
    response.end();
    return;
  }
  const encoding = answer.encoding ?? 'utf8';
  headers['Content-Type'] = 'application/json; charset=utf-8';
  headers['Content-Length'] = Buffer.byteLength(text, encoding);
  response.writeHead(answer.status, Object.assign(headers, answer.headers));
  response.end(text, encoding);
}
