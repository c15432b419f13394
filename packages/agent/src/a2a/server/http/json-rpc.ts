import { JsonRpcTransportHandler, type A2ARequestHandler } from '@a2a-js/sdk/server';
import { isLegacyJsonRpcMethod, isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { Request, Response } from 'express';
import { protocolFailure, type A2aFailure } from '../errors/a2a-failure.js';
import type { ProtocolReason } from '../errors/error-table.js';
import { libraryFailure, unexplained } from '../errors/library-failure.js';
import { jsonRpcError } from '../errors/wire-errors.js';
import { faultyParams } from '../guarded-handler.js';
import { isObject, legacyMessageShapeFaults, messageShapeFaults } from '../message-shape.js';
import { unservedSentence } from '../protocol-version.js';
import { sendEvents } from './event-stream.js';
import {
  beginCall,
  contextOf,
  echoExtensions,
  measure,
  retryAfter,
  sendJson,
  type HttpCall,
  type HttpEdge,
} from './http-call.js';
import { readBody } from './read-body.js';

type Id = string | number | null;

/** A request whose envelope is right. `id` is undefined for a notification. */
interface Envelope {
  readonly id: Id | undefined;
  readonly method: string;
  readonly params: unknown;
  readonly body: Record<string, unknown>;
}

type Answer = Record<string, unknown>;

const SENDS: ReadonlySet<string> = new Set(['SendMessage', 'SendStreamingMessage']);
const LEGACY_SENDS: ReadonlySet<string> = new Set(['message/send', 'message/stream']);
/** The only methods that need no params. */
const BARE: ReadonlySet<string> = new Set(['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']);

/** `POST /a2a`: JSON-RPC 2.0, both versions of the protocol. */
export function jsonRpcEndpoint(handler: A2ARequestHandler, edge: HttpEdge) {
  const current = new JsonRpcTransportHandler(handler);
  const legacy = new LegacyJsonRpcTransportHandler(handler);
  return async (request: Request, response: Response): Promise<void> => {
    const call = beginCall(request, response, 'jsonrpc', edge);
    measure(call, '/a2a', edge.metrics);
    if (request.method !== 'POST') {
      response.setHeader('Allow', 'POST, OPTIONS');
      refuse(call, null, protocolFailure('METHOD_NOT_ALLOWED', 'JSON-RPC is served by POST only.'));
      return;
    }
    const read = await readBody(request, edge.maxBodyBytes);
    if ('failure' in read) {
      refuse(call, null, read.failure);
      return;
    }
    const envelope = readEnvelope(read.value, call, edge);
    if ('refused' in envelope) {
      if (envelope.silent) response.status(204).end();
      else refuse(call, envelope.id, envelope.refused);
      return;
    }
    const transport = call.scope.legacy ? legacy : current;
    const answering = transport.handle(envelope.body, contextOf(call)) as Promise<Answer | AsyncGenerator<Answer>>;
    if (envelope.id === undefined) {
      await acceptNotification(call, answering);
      return;
    }
    await answer(call, envelope.id, await answering, edge);
  };
}

interface Refused {
  readonly refused: A2aFailure;
  readonly id: Id;
  /** A notification is never answered. */
  readonly silent: boolean;
}

function readEnvelope(body: unknown, call: HttpCall, { compat }: HttpEdge): Envelope | Refused {
  const no = (reason: ProtocolReason, sentence: string, id: Id = null): Refused => ({
    refused: protocolFailure(reason, sentence),
    id,
    silent: false,
  });
  if (body === undefined) return no('PARSE_ERROR', 'The body is empty.');
  if (Array.isArray(body)) return no('INVALID_REQUEST', 'Batches are not served; send one request at a time.');
  if (!isObject(body)) return no('INVALID_REQUEST', 'A request is a JSON object.');
  const isSilent = !Object.hasOwn(body, 'id');
  const { id: said, method, params } = body;
  if (!isSilent && !isId(said)) return no('INVALID_REQUEST', 'id must be a text, a whole number or null.');
  const id = isId(said) ? said : null;
  if (body['jsonrpc'] !== '2.0') return no('INVALID_REQUEST', 'jsonrpc must be "2.0".', id);
  if (typeof method !== 'string' || method === '') return no('INVALID_REQUEST', 'method must be a text.', id);
  const failure = unserved(call, compat) ?? faultyCall(call.scope.legacy, method, params);
  if (failure !== undefined) return { refused: failure, id, silent: isSilent };
  return { id: isSilent ? undefined : id, method, params, body };
}

function isId(value: unknown): value is Id {
  return value === null || typeof value === 'string' || Number.isInteger(value);
}

function unserved(call: HttpCall, compat: boolean): A2aFailure | undefined {
  return call.isServed ? undefined : protocolFailure('VERSION_NOT_SUPPORTED', unservedSentence(call.version, compat));
}

function faultyCall(legacy: boolean, method: string, params: unknown): A2aFailure | undefined {
  const isKnown = legacy ? isLegacyJsonRpcMethod(method) : isV1JsonRpcMethod(method);
  if (!isKnown) return protocolFailure('METHOD_NOT_FOUND', 'There is no such method in this version.');
  if (params === undefined && BARE.has(method)) return undefined;
  if (!isObject(params) || Object.hasOwn(params, '')) {
    return faultyParams([{ path: 'params', message: 'must be an object' }]);
  }
  const faults = (legacy ? LEGACY_SENDS : SENDS).has(method)
    ? (legacy ? legacyMessageShapeFaults : messageShapeFaults)(params['message'])
    : [];
  return faults.length === 0 ? undefined : faultyParams(faults);
}

/** Accepted is all that a notification's sender is told; what comes of it, the log says. */
async function acceptNotification(call: HttpCall, answering: Promise<Answer | AsyncGenerator<Answer>>): Promise<void> {
  call.response.status(202).end();
  const given = await answering.catch(() => undefined);
  if (given === undefined || !isStream(given)) return;
  // The first item starts the work; nobody reads the rest.
  await given.next().catch(() => undefined);
  await given.return(undefined).catch(() => undefined);
}

async function answer(call: HttpCall, id: Id, given: Answer | AsyncGenerator<Answer>, edge: HttpEdge): Promise<void> {
  if (!isStream(given)) {
    const failure = failureIn(call, given);
    if (failure === undefined) sendJson(call, 200, 'application/json', given);
    else refuse(call, id, failure);
    return;
  }
  let first: IteratorResult<Answer>;
  try {
    first = await given.next();
  } catch (thrown) {
    refuse(call, id, streamFailure(call, thrown));
    return;
  }
  echoExtensions(call);
  await sendEvents(call.response, first, given, {
    keepAliveMs: edge.keepAliveMs,
    event: (item) => item,
    error: (thrown) => ({ jsonrpc: '2.0', id, error: jsonRpcError(streamFailure(call, thrown)) }),
  });
}

function isStream(given: Answer | AsyncGenerator<Answer>): given is AsyncGenerator<Answer> {
  return Symbol.asyncIterator in given;
}

function failureIn({ scope }: HttpCall, given: Answer): A2aFailure | undefined {
  if (given['error'] === undefined) return undefined;
  return scope.failure ?? libraryFailure(given['error'], scope.reached);
}

function streamFailure({ scope }: HttpCall, thrown: unknown): A2aFailure {
  return scope.failure ?? unexplained(scope.reached, thrown);
}

/** JSON-RPC tells failures in the body; only what concerns the request as HTTP has a status of its own. */
function refuse(call: HttpCall, id: Id, failure: A2aFailure): void {
  retryAfter(call, failure);
  const status = failure.http === 413 || failure.http === 405 ? failure.http : 200;
  sendJson(call, status, 'application/json', { jsonrpc: '2.0', id, error: jsonRpcError(failure) });
}
