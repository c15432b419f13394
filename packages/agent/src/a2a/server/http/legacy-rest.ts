import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { legacyRestRouter } from '@a2a-js/sdk/compat/v0_3/server/express';
import type { NextFunction, Request, Response } from 'express';
import { protocolFailure } from '../errors/a2a-failure.js';
import { libraryFailure } from '../errors/library-failure.js';
import { jsonRpcError } from '../errors/wire-errors.js';
import { contextOfUser, ScopedUser } from '../scoped-user.js';
import { escapeLineEnds, keepAlive, tellError } from './event-stream.js';
import { contextOf, echoExtensions, measure, searchOf, sendJson, type HttpCall, type HttpEdge } from './http-call.js';
import { readBody } from './read-body.js';
import { missed, refuseLegacy } from './rest-refusals.js';

const CONFIGS = '/v1/tasks/[^/]+/pushNotificationConfigs';
/** The library falls through where it serves nothing, so what it serves has to be known here. */
const PATHS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\/v1\/card$/, ['GET']],
  [/^\/v1\/message:(?:send|stream)$/, ['POST']],
  [/^\/v1\/tasks\/[^/]+:cancel$/, ['POST']],
  [/^\/v1\/tasks\/[^/]+:subscribe$/, ['GET', 'POST']],
  [/^\/v1\/tasks\/[^/]+$/, ['GET']],
  [new RegExp(`^${CONFIGS}$`), ['GET', 'POST']],
  [new RegExp(`^${CONFIGS}/[^/]+$`), ['GET', 'DELETE']],
];

/**
 * HTTP+JSON of protocol 0.3, by the protocol's library: its bodies are the JSON of the old contract, whose converters it
 * keeps to itself. What its answers lack is added to the response before it sees it.
 */
export function legacyRest(handler: A2ARequestHandler, edge: HttpEdge) {
  const router = legacyRestRouter({
    requestHandler: handler,
    userBuilder: (request) => Promise.resolve(new ScopedUser(calls.get(request))),
    contextBuilder: contextOfUser,
  });
  /** By request, because the library hands nothing else through. */
  const calls = new WeakMap<Request, () => ReturnType<typeof contextOf>>();
  return async (call: HttpCall, path: string): Promise<void> => {
    const { request, response } = call;
    const allow = PATHS.find(([pattern]) => pattern.test(path))?.[1];
    measure(call, `/a2a/v1${allow === undefined ? ' unmatched' : ' 0.3'}`, edge.metrics);
    if (allow?.includes(request.method) !== true) {
      refuseLegacy(call, missed(call, allow));
      return;
    }
    const read = await readBody(request, edge.maxBodyBytes);
    if ('failure' in read) {
      refuseLegacy(call, read.failure);
      return;
    }
    request.body = read.value;
    // The server around reads no queries, which the library wants read.
    Object.defineProperty(request, 'query', { value: Object.fromEntries(searchOf(request)) });
    calls.set(request, () => contextOf(call));
    complete(call, edge.keepAliveMs);
    const unserved: NextFunction = () => {
      refuseLegacy(call, protocolFailure('METHOD_NOT_FOUND', 'There is nothing at this path.'));
    };
    await router(request, response, unserved);
  };
}

/** Makes the library's answers complete: failures by our table, a body for what was deleted, streams that stay open. */
function complete(call: HttpCall, keepAliveMs: number): void {
  const { response, scope } = call;
  const original = {
    end: response.end.bind(response),
    write: response.write.bind(response) as (chunk: string) => boolean,
    flushHeaders: response.flushHeaders.bind(response),
  };
  response.json = (body: unknown): Response => {
    restore();
    if (response.statusCode < 400) sendJson(call, response.statusCode, 'application/json', body);
    else refuseLegacy(call, scope.failure ?? libraryFailure(body, scope.reached));
    return response;
  };
  response.end = ((...args: Parameters<typeof original.end>): Response => {
    restore();
    if (response.statusCode !== 204 || response.headersSent) return original.end(...args);
    sendJson(call, 200, 'application/json', {});
    return response;
  }) as typeof response.end;
  response.flushHeaders = () => {
    response.removeHeader('Connection');
    response.setHeader('Cache-Control', 'no-cache, no-transform');
    echoExtensions(call);
    original.flushHeaders();
    keepAlive(response, keepAliveMs);
    scope.tellInStream = (failure) => {
      tellError(response, jsonRpcError(failure));
      return true;
    };
  };
  response.write = ((chunk: unknown): boolean =>
    original.write(escapeLineEnds(String(chunk)))) as typeof response.write;
  const restore = (): void => {
    response.end = original.end;
  };
}
