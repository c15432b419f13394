import { mountOperations, type Logger, type Metrics, type Readiness, sameSecret } from '@parley/service-kit';
import express, { type Express, type NextFunction, type Request, type Response, type Router } from 'express';
import { Refusal, type JsonObject } from '../domain/facts.js';
import { openApi } from './open-api.js';
import type { ProxyRoute } from './routes.js';
import { callerSignal } from './wire/caller-signal.js';
import { readFields } from './wire/read-fields.js';
import { sendJson, sendText } from './wire/send-answer.js';
import { sendFailure } from './wire/send-failure.js';

/** A path that speaks a protocol of its own. */
export interface OwnRoute {
  readonly method: 'POST';
  readonly path: string;
  handle(request: Request, response: Response): Promise<void>;
}

export interface HttpAppOptions {
  readonly routes: readonly ProxyRoute[];
  readonly ownRoutes: readonly OwnRoute[];
  /** The agent's card, as it is now. */
  readonly card: () => JsonObject;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: () => Readiness;
  /** Where set, configuration and trajectory need it as bearer. */
  readonly controlToken?: string | undefined;
  /** Asked first: whatever else is served on this port goes here. */
  readonly before?: Router | undefined;
}

const CARD_PATHS = ['/.well-known/agent.json', '/.well-known/agent-card.json'];

type Handler = (request: Request, response: Response) => Promise<void> | void;

/** The proxy's wire. Whatever goes wrong is answered with one plain sentence. */
export function createHttpApp(options: HttpAppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  if (options.before !== undefined) app.use(options.before);
  mountOperations(app, {
    metrics: options.metrics,
    readiness: options.readiness,
    openapi: () => openApi(options.routes),
  });
  const paths = handlersByPath(options);
  for (const [path, handlers] of paths) app.all(path, answerOn(path, handlers, options));
  app.use((request: Request, response: Response) => {
    answerElsewhere(request, response, paths);
  });
  app.use((thrown: unknown, request: Request, response: Response, _next: NextFunction) => {
    // Express knows an error handler by its four parameters.
    sendFailure(request, response, thrown, options.logger);
  });
  return app;
}

type HandlersByPath = ReadonlyMap<string, ReadonlyMap<string, Handler>>;

function handlersByPath(options: HttpAppOptions): HandlersByPath {
  const paths = new Map<string, Map<string, Handler>>();
  const add = (method: string, path: string, handler: Handler): void => {
    const handlers = paths.get(path) ?? new Map<string, Handler>();
    handlers.set(method, handler);
    paths.set(path, handlers);
  };
  add('GET', '/health', (_request, response) => {
    sendJson(response, { status: 'ok' });
  });
  for (const path of CARD_PATHS) {
    add('GET', path, (_request, response) => {
      sendJson(response, options.card());
    });
  }
  for (const route of options.routes) {
    add(route.method, route.path, (request, response) => answerRoute(route, request, response, options));
  }
  for (const route of options.ownRoutes) add(route.method, route.path, route.handle.bind(route));
  return paths;
}

async function answerRoute(
  route: ProxyRoute,
  request: Request,
  response: Response,
  { controlToken }: HttpAppOptions,
): Promise<void> {
  if (route.isControl === true && controlToken !== undefined) checkControlToken(request, response, controlToken);
  const signal = callerSignal(response);
  const fields = await readFields(request);
  const answer: unknown = await route.handle({ fields, signal });
  sendJson(response, answer);
}

function checkControlToken(request: Request, response: Response, token: string): void {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (sameSecret(given, token)) return;
  response.setHeader('WWW-Authenticate', 'Bearer');
  throw new Refusal(401, 'the control token is missing or wrong');
}

function answerOn(
  path: string,
  handlers: ReadonlyMap<string, Handler>,
  { logger, metrics }: HttpAppOptions,
): (request: Request, response: Response) => Promise<void> {
  return async (request, response) => {
    const started = performance.now();
    try {
      const handler = handlers.get(request.method === 'HEAD' ? 'GET' : request.method);
      if (handler === undefined) refuseMethod(response, handlers);
      else await handler(request, response);
    } catch (thrown) {
      sendFailure(request, response, thrown, logger);
    } finally {
      const elapsed = (performance.now() - started) / 1_000;
      metrics.httpRequest(request.method, path, response.statusCode, elapsed);
    }
  };
}

function refuseMethod(response: Response, handlers: ReadonlyMap<string, Handler>): void {
  const methods = [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  response.setHeader('Allow', methods.sort().join(', '));
  sendText(response, 405, 'Method Not Allowed');
}

/** A path that is known without its last slash is redirected there, with the same method and body. */
function answerElsewhere(request: Request, response: Response, paths: HandlersByPath): void {
  const { pathname, query } = split(request.url);
  if (pathname.endsWith('/') && paths.has(pathname.slice(0, -1))) {
    const host = request.headers.host;
    const origin = host === undefined ? '' : `http://${host}`;
    response.statusCode = 307;
    response.setHeader('Location', `${origin}${pathname.slice(0, -1)}${query}`);
    response.setHeader('Content-Length', 0);
    response.end();
    return;
  }
  sendText(response, 404, 'Not Found');
}

function split(url: string): { readonly pathname: string; readonly query: string } {
  const at = url.indexOf('?');
  return at === -1 ? { pathname: url, query: '' } : { pathname: url.slice(0, at), query: url.slice(at) };
}
