import type { IncomingMessage, ServerResponse } from 'node:http';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { AppError, failureOfCall } from '../errors/app-error.js';
import { reasonOfStatus, toProblem } from '../errors/problem.js';
import type { Logger } from '../logging/logger.js';
import { announcedLength, announcesBody } from './read-json-body.js';

/** How long the rest of a refused body is read and dropped, so that its sender gets to read the answer. */
const LINGER_MS = 1_000;
/** An unread body up to this size is left to node, which reads it and keeps the connection. */
const SMALL_BODY_BYTES = 64 * 1024;

/** Answers an error. After headers were sent, only the connection can be cut. */
export function sendProblem(response: ServerResponse, error: AppError, requestId: string): void {
  if (response.headersSent) {
    // An answer that is out already was complete: cutting would take it from the reader.
    if (!response.writableEnded) response.destroy();
    return;
  }
  const body = JSON.stringify(toProblem(error, requestId));
  response.statusCode = error.status;
  response.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Request-Id', requestId);
  if (error.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
  }
  if (error.reason === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  endAnswer(response, body);
}

/** Ends an answer whose status and headers are set; with care when the request's body is still under way. */
export function endAnswer(response: ServerResponse, body: string): void {
  if (isStillSending(response.req)) endAfterRequest(response, body);
  else response.end(body);
}

function isStillSending(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed || !announcesBody(request)) return false;
  return request.headers['transfer-encoding'] !== undefined || announcedLength(request) > SMALL_BODY_BYTES;
}

/**
 * Sends the whole answer at once, but ends it only when the request has arrived or a second has passed:
 * ending closes the connection, and closing on unread bytes resets it, which can take the answer with it.
 */
function endAfterRequest(response: ServerResponse, body: string): void {
  const request = response.req;
  response.setHeader('Connection', 'close');
  response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    request.off('end', end).off('close', end);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end);
  request.resume();
}

/** Logs what the caller is not told; a caller that left is no error. */
export function logFailure(logger: Logger, request: IncomingMessage, error: AppError, requestId: string): void {
  const fields = { request_id: requestId, method: request.method, path: request.url?.split('?')[0], code: error.code };
  if (error.reason === 'internal') {
    recordOnSpan(error);
    logger.error('request failed', { ...fields, error: error.cause ?? error });
  } else if (error.reason === 'unavailable') {
    logger.warn('request not served', { ...fields, error: error.cause ?? error });
  } else logger.debug('request refused', { ...fields, detail: error.message });
}

/** Puts what really happened on the span under way, if there is one. */
export function recordOnSpan(error: AppError): void {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  const { cause } = error;
  span.recordException(cause instanceof Error ? cause : error);
  span.setStatus({ code: SpanStatusCode.ERROR, message: error.code });
}

interface HttpLibraryError {
  readonly status?: unknown;
  readonly type?: unknown;
}

/** Gives the errors of express and body-parser (objects with `status` and `type`) the reason they mean. */
export function fromHttpLibrary(thrown: unknown, callIsOver = true): AppError {
  if (thrown instanceof AppError || typeof thrown !== 'object' || thrown === null) return AppError.from(thrown);
  const { status, type } = thrown as HttpLibraryError;
  if (type === 'request.aborted') return new AppError('cancelled', 'The caller went away.', { cause: thrown });
  const known = typeof type === 'string' && Object.hasOwn(BODY_FAULTS, type) ? BODY_FAULTS[type] : undefined;
  if (known !== undefined) {
    const [reason, message] = known;
    return new AppError(reason, message, { cause: thrown, errors: [{ path: '', message }] });
  }
  if (thrown instanceof URIError) {
    return new AppError('invalid_request', 'The path is not validly encoded.', { cause: thrown });
  }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new AppError(reasonOfStatus(status), 'The request could not be read.', { cause: thrown });
  }
  return failureOfCall(thrown, callIsOver);
}

type BodyReason = 'invalid_request' | 'payload_too_large' | 'unsupported_media_type';

const BODY_FAULTS: Readonly<Record<string, readonly [BodyReason, string]>> = {
  'entity.too.large': ['payload_too_large', 'The body is larger than allowed.'],
  'entity.parse.failed': ['invalid_request', 'The body is not valid JSON.'],
  'entity.verify.failed': ['invalid_request', 'The body is not valid UTF-8.'],
  'charset.unsupported': ['unsupported_media_type', 'The body must be UTF-8.'],
  'encoding.unsupported': ['unsupported_media_type', 'The content encoding is not supported.'],
  'request.size.invalid': ['invalid_request', 'The body does not have the announced length.'],
};
