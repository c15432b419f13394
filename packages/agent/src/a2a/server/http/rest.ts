import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { StreamResponse } from '@a2a-js/sdk';
import { A2AError } from '@a2a-js/sdk/errors';
import { AppError } from '@parley/service-kit';
import type { Request, Response } from 'express';
import { protocolFailure, toFailure, type A2aFailure } from '../errors/a2a-failure.js';
import { unexplained } from '../errors/library-failure.js';
import { restError } from '../errors/wire-errors.js';
import { faultyParams } from '../guarded-handler.js';
import { isObject, messageShapeFaults } from '../message-shape.js';
import { unservedSentence } from '../protocol-version.js';
import { sendEvents } from './event-stream.js';
import {
  beginCall,
  contextOf,
  echoExtensions,
  measure,
  searchOf,
  sendJson,
  type HttpCall,
  type HttpEdge,
} from './http-call.js';
import { legacyRest } from './legacy-rest.js';
import { readBody } from './read-body.js';
import { JSON_TYPE, missed, refuse } from './rest-refusals.js';
import { eventJson, runRest, type RestOutput } from './rest-operations.js';
import { matchRest, type RestMatch } from './rest-paths.js';

/** Where protocol 0.3 has its paths, below those of 1.0. */
const LEGACY_PREFIX = '/v1/';

/** Everything below `/a2a/v1`: HTTP+JSON, both versions of the protocol. */
export function restEndpoint(handler: A2ARequestHandler, edge: HttpEdge) {
  const serveLegacy = legacyRest(handler, edge);
  return async (request: Request, response: Response): Promise<void> => {
    const call = beginCall(request, response, 'rest', edge);
    const { path } = request;
    if (call.scope.legacy && path.startsWith(LEGACY_PREFIX)) {
      await serveLegacy(call, path);
      return;
    }
    const match = matchRest(request.method, path);
    measure(call, `/a2a/v1 ${'miss' in match ? 'unmatched' : match.operation}`, edge.metrics);
    if ('miss' in match) {
      refuse(call, missed(call, match.miss?.allow));
      return;
    }
    if (!call.isServed) {
      refuse(call, protocolFailure('VERSION_NOT_SUPPORTED', unservedSentence(call.version, edge.compat)));
      return;
    }
    await serve(handler, call, match, edge);
  };
}

async function serve(handler: A2ARequestHandler, call: HttpCall, match: RestMatch, edge: HttpEdge): Promise<void> {
  const read = await readBody(call.request, edge.maxBodyBytes);
  const failure = 'failure' in read ? read.failure : faultyBody(match, read.value);
  if (failure !== undefined || 'failure' in read) {
    refuse(call, failure ?? unexplained(false));
    return;
  }
  let output: RestOutput;
  let first: IteratorResult<StreamResponse> | undefined;
  try {
    const body = isObject(read.value) ? read.value : {};
    const context = contextOf(call, match.tenant);
    output = await runRest(handler, { match, body, query: searchOf(call.request), context });
    if ('events' in output) first = await output.events.next();
  } catch (thrown) {
    refuse(call, failureOf(call, thrown));
    return;
  }
  if (first === undefined || !('events' in output)) {
    if ('json' in output) sendJson(call, output.status, JSON_TYPE, output.json);
    return;
  }
  echoExtensions(call);
  await sendEvents(call.response, first, output.events, {
    keepAliveMs: edge.keepAliveMs,
    event: eventJson,
    error: (thrown) => restError(failureOf(call, thrown)),
  });
}

function faultyBody({ operation }: RestMatch, body: unknown): A2aFailure | undefined {
  // Some writers of empty requests send a null.
  if (body !== undefined && body !== null && !isObject(body)) {
    return faultyParams([{ path: 'body', message: 'must be an object' }]);
  }
  if (operation !== 'sendMessage' && operation !== 'sendMessageStream') return undefined;
  const faults = messageShapeFaults(isObject(body) ? body['message'] : undefined);
  return faults.length === 0 ? undefined : faultyParams(faults);
}

function failureOf({ scope }: HttpCall, thrown: unknown): A2aFailure {
  if (scope.failure !== undefined) return scope.failure;
  if (thrown instanceof AppError || thrown instanceof A2AError) return toFailure(thrown);
  return unexplained(scope.reached, thrown);
}
