import { protocolFailure, type A2aFailure } from '../errors/a2a-failure.js';
import { jsonRpcError, restError } from '../errors/wire-errors.js';
import { retryAfter, sendJson, type HttpCall } from './http-call.js';

export const JSON_TYPE = 'application/a2a+json';

/** Nothing is at this path, or nothing by this method. */
export function missed({ request, response }: HttpCall, allow: readonly string[] | undefined): A2aFailure {
  if (allow === undefined) return protocolFailure('METHOD_NOT_FOUND', 'There is nothing at this path.');
  response.setHeader('Allow', [...allow, 'OPTIONS'].join(', '));
  return protocolFailure('METHOD_NOT_ALLOWED', `${request.method} is not allowed here.`);
}

/** The body that protocol 1.0 has for a failure. */
export function refuse(call: HttpCall, failure: A2aFailure): void {
  retryAfter(call, failure);
  sendJson(call, failure.http, JSON_TYPE, restError(failure));
}

/** The body that protocol 0.3 has for a failure. */
export function refuseLegacy(call: HttpCall, failure: A2aFailure): void {
  retryAfter(call, failure);
  sendJson(call, failure.http, 'application/json', jsonRpcError(failure));
}
