import { ServerCallContext, STATE_HEADERS_KEY, UnauthenticatedUser } from '@a2a-js/sdk/server';
import { Extensions } from '@a2a-js/sdk';
import { endAnswer, type Metrics } from '@parley/service-kit';
import type { Request, Response } from 'express';
import { bindScope, CallScope, type Binding, type OpenCalls } from '../call-scope.js';
import type { A2aFailure } from '../errors/a2a-failure.js';
import { isServed, LEGACY, minorVersion } from '../protocol-version.js';

export interface HttpEdge {
  readonly compat: boolean;
  readonly maxBodyBytes: number;
  readonly keepAliveMs: number;
  readonly slowReaderMs: number;
  readonly calls: OpenCalls;
  readonly metrics: Metrics | undefined;
}

/** One request on one of the HTTP bindings. */
export interface HttpCall {
  readonly request: Request;
  readonly response: Response;
  readonly scope: CallScope;
  /** Without its patch number; undefined if the request says none, which means 0.3. */
  readonly version: string | undefined;
  readonly isServed: boolean;
}

/** Begins a call; it is over when the answer is, or when its reader has left. */
export function beginCall(request: Request, response: Response, binding: Binding, edge: HttpEdge): HttpCall {
  const version = saidVersion(request);
  // For what reads the headers after us.
  if (version === undefined) delete request.headers['a2a-version'];
  else request.headers['a2a-version'] = version;
  const legacy = edge.compat && (version === undefined || version === LEGACY);
  const scope = new CallScope({ binding, legacy, sink: response, slowReaderMs: edge.slowReaderMs });
  const over = edge.calls.add(scope);
  response.once('close', () => {
    over(response.writableFinished);
  });
  return { request, response, scope, version, isServed: isServed(version, edge.compat) };
}

/** The header counts; without one, the query. */
function saidVersion(request: Request): string | undefined {
  const header = request.headers['a2a-version'];
  if (typeof header === 'string' && header.trim() !== '') return minorVersion(header);
  for (const [name, value] of searchOf(request)) if (name.toLowerCase() === 'a2a-version') return minorVersion(value);
  return undefined;
}

export function searchOf(request: Request): URLSearchParams {
  const at = request.url.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : request.url.slice(at + 1));
}

/** What the request handler gets to know of a call. */
export function contextOf(call: HttpCall, tenant?: string): ServerCallContext {
  const { headers } = call.request;
  const legacy = call.scope.legacy ? headers['x-a2a-extensions'] : undefined;
  const extensions = legacy ?? headers['a2a-extensions'];
  const context = new ServerCallContext({
    requestedExtensions: Extensions.parseServiceParameter(
      Array.isArray(extensions) ? extensions.join(',') : extensions,
    ),
    user: new UnauthenticatedUser(),
    state: new Map<string, unknown>([[STATE_HEADERS_KEY, headers]]),
    requestedVersion: call.version ?? LEGACY,
    ...(tenant === undefined ? {} : { tenant }),
  });
  return bindScope(context, call.scope);
}

/** Names the extensions in use; to be called before the first byte of an answer. */
export function echoExtensions({ response, scope }: HttpCall): void {
  for (const [name, value] of scope.extensionHeaders()) response.setHeader(name, value);
}

export function sendJson(call: HttpCall, status: number, type: string, body: unknown): void {
  const { response } = call;
  if (response.headersSent || response.destroyed) return;
  echoExtensions(call);
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.setHeader('Cache-Control', 'no-store');
  endAnswer(response, text);
}

export function retryAfter({ response }: HttpCall, { retryAfterSeconds }: A2aFailure): void {
  if (retryAfterSeconds === undefined || response.headersSent) return;
  response.setHeader('Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds))));
}

/** Counts a call when its answer is over. */
export function measure({ request, response }: HttpCall, route: string, metrics: Metrics | undefined): void {
  if (metrics === undefined) return;
  const started = performance.now();
  response.once('close', () => {
    metrics.httpRequest(request.method, route, response.statusCode, (performance.now() - started) / 1_000);
  });
}
