import { A2A_ERROR_CODE, A2AError } from '@a2a-js/sdk/errors';
import { AppError, reasonOfStatus, type Reason } from '@parley/service-kit';
import { aborted, invalidAnswer, peerTimeout, peerUnreachable } from '../../peer/peer-errors.js';
import { errorInfoOf, errorInfoOfStatus, type ErrorInfo } from './error-info.js';

/** What the reasons of the protocol and of our extension mean here; the code is the reason in small letters. */
const REASONS: Readonly<Record<string, Reason>> = {
  TASK_NOT_FOUND: 'not_found',
  TASK_NOT_CANCELABLE: 'failed_precondition',
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'failed_precondition',
  UNSUPPORTED_OPERATION: 'failed_precondition',
  CONTENT_TYPE_NOT_SUPPORTED: 'unsupported_media_type',
  INVALID_AGENT_RESPONSE: 'bad_gateway',
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'failed_precondition',
  EXTENSION_SUPPORT_REQUIRED: 'failed_precondition',
  VERSION_NOT_SUPPORTED: 'failed_precondition',
  INVALID_PARAMS: 'invalid_request',
  INVALID_REQUEST: 'invalid_request',
  PARSE_ERROR: 'invalid_request',
  METHOD_NOT_FOUND: 'failed_precondition',
  METHOD_NOT_ALLOWED: 'failed_precondition',
  INTERNAL_ERROR: 'bad_gateway',
  AGREEMENT_UNKNOWN: 'not_found',
  AGREEMENT_ENDED: 'gone',
  AGREEMENT_SUSPENDED: 'unavailable',
  AGREEMENT_SCOPE: 'forbidden',
  AGREEMENT_LIMIT: 'too_many_requests',
  AGREEMENT_TERMS_MISMATCH: 'conflict',
};

const REASON_OF_CODE: ReadonlyMap<number, string> = new Map<number, string>([
  [A2A_ERROR_CODE.TASK_NOT_FOUND, 'TASK_NOT_FOUND'],
  [A2A_ERROR_CODE.TASK_NOT_CANCELABLE, 'TASK_NOT_CANCELABLE'],
  [A2A_ERROR_CODE.PUSH_NOTIFICATION_NOT_SUPPORTED, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  [A2A_ERROR_CODE.UNSUPPORTED_OPERATION, 'UNSUPPORTED_OPERATION'],
  [A2A_ERROR_CODE.CONTENT_TYPE_NOT_SUPPORTED, 'CONTENT_TYPE_NOT_SUPPORTED'],
  [A2A_ERROR_CODE.INVALID_AGENT_RESPONSE, 'INVALID_AGENT_RESPONSE'],
  [A2A_ERROR_CODE.EXTENDED_CARD_NOT_CONFIGURED, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
  [A2A_ERROR_CODE.EXTENSION_SUPPORT_REQUIRED, 'EXTENSION_SUPPORT_REQUIRED'],
  [A2A_ERROR_CODE.VERSION_NOT_SUPPORTED, 'VERSION_NOT_SUPPORTED'],
  [A2A_ERROR_CODE.INVALID_PARAMS, 'INVALID_PARAMS'],
  [A2A_ERROR_CODE.INVALID_REQUEST, 'INVALID_REQUEST'],
  [A2A_ERROR_CODE.PARSE_ERROR, 'PARSE_ERROR'],
  [A2A_ERROR_CODE.METHOD_NOT_FOUND, 'METHOD_NOT_FOUND'],
  [A2A_ERROR_CODE.INTERNAL_ERROR, 'INTERNAL_ERROR'],
]);

/** What a call was bounded by, and so what its failure may mean. */
export interface CallBounds {
  readonly caller: AbortSignal | undefined;
  readonly limit: AbortSignal;
  readonly deadlineMs: number;
}

/** The one place where failures of a call become errors of ours. */
export function callError(thrown: unknown, bounds: CallBounds): AppError {
  if (bounds.caller?.aborted === true) return aborted(bounds.caller);
  if (bounds.limit.aborted) return peerTimeout(bounds.deadlineMs, thrown);
  return wireError(thrown);
}

/** @param thrown whatever the protocol's library or the network threw. */
export function wireError(thrown: unknown): AppError {
  let error: unknown = thrown;
  // The library wraps what a stream answers; the depth is bounded against a cause that is its own.
  for (let depth = 0; depth < 5 && error !== undefined; depth += 1) {
    if (error instanceof AppError) return error;
    if (error instanceof A2AError) return protocolError(error);
    error = causeOf(error);
  }
  return isCutConnection(thrown) ? peerUnreachable(thrown) : invalidAnswer('it is not what the protocol says', thrown);
}

/** What the library's errors carry beside their reason, by wire. */
interface WireShape {
  readonly data?: unknown;
  readonly envelopeCode?: number;
  readonly statusCode?: number;
  readonly status?: number;
  readonly statusDetailsBin?: Uint8Array;
}

function protocolError(error: A2AError): AppError {
  const { data, envelopeCode, statusCode, status, statusDetailsBin } = error as A2AError & WireShape;
  const told = errorInfoOf(data) ?? (statusDetailsBin === undefined ? undefined : errorInfoOfStatus(statusDetailsBin));
  // The library takes codes of JSON-RPC for the nearest reason, and whatever it does not know for INTERNAL_ERROR.
  const reason = envelopeCode === undefined ? error.reason : (REASON_OF_CODE.get(envelopeCode) ?? '');
  const info =
    told ?? (envelopeCode === undefined && reason === 'INTERNAL_ERROR' ? undefined : bare(reason, error.metadata));
  const message = grpcDetails(error) ?? error.message;
  // An error in the middle of a stream comes with the status of the stream.
  if (statusCode !== undefined && statusCode >= 400) {
    return errorOf(info, message, { fallback: reasonOfStatus(statusCode), cause: error });
  }
  if (status === undefined) return errorOf(info, message, { cause: error });
  // Without a word of the agent, 14 is what grpc-js itself says of a connection.
  if (status === 14 && info === undefined) return peerUnreachable(networkOf(error));
  return errorOf(info, message, { fallback: REASON_OF_GRPC.get(status) ?? 'bad_gateway', cause: error });
}

/** An error that an agent answers over HTTP with a status outside 200-299, in either form. */
export function errorOfHttp(status: number, body: unknown): AppError {
  const whole = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const { error } = whole;
  // HTTP+JSON of 0.3 has the error itself as the body.
  const { code, message, data, details } = (typeof error === 'object' && error !== null ? error : whole) as Readonly<
    Record<string, unknown>
  >;
  const reason = typeof code === 'number' ? REASON_OF_CODE.get(code) : undefined;
  const info = errorInfoOf(details) ?? errorInfoOf(data) ?? (reason === undefined ? undefined : bare(reason));
  const text = typeof message === 'string' && message !== '' ? message : `The peer answered ${String(status)}.`;
  return errorOf(info, text, { fallback: reasonOfStatus(status) });
}

function bare(reason: string, metadata: Readonly<Record<string, string>> = {}): ErrorInfo {
  return { reason, metadata, fields: [] };
}

interface Background {
  /** For a reason that is not known here. Default `bad_gateway`. */
  readonly fallback?: Reason;
  readonly cause?: unknown;
}

function errorOf(info: ErrorInfo | undefined, message: string, { fallback, cause }: Background): AppError {
  const known = info === undefined ? undefined : REASONS[info.reason];
  const endReason = info?.metadata['end_reason'];
  const fields = endReason === undefined ? (info?.fields ?? []) : [{ path: 'agreement_id', message: endReason }];
  return new AppError(known ?? fallback ?? 'bad_gateway', said(message), {
    ...codeOf(info, fallback),
    cause,
    errors: fields.slice(0, 32).map((field) => ({ path: said(field.path), message: said(field.message) })),
    ...(info?.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: info.retryAfterSeconds }),
  });
}

function codeOf(info: ErrorInfo | undefined, fallback: Reason | undefined): { readonly code?: string } {
  if (info !== undefined && /^[A-Z][A-Z0-9_]{0,63}$/u.test(info.reason)) return { code: info.reason.toLowerCase() };
  return fallback === undefined || fallback === 'bad_gateway' ? { code: 'peer_error' } : {};
}

const REASON_OF_GRPC: ReadonlyMap<number, Reason> = new Map([
  [1, 'cancelled'],
  [3, 'invalid_request'],
  [4, 'deadline_exceeded'],
  [5, 'not_found'],
  [6, 'conflict'],
  [7, 'forbidden'],
  [8, 'too_many_requests'],
  [9, 'failed_precondition'],
  [12, 'failed_precondition'],
  [14, 'unavailable'],
  [16, 'unauthenticated'],
]);

/** grpc-js tells why a connection failed in words only. */
function networkOf(error: A2AError): unknown {
  const code = /\b(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)\b/u.exec(grpcDetails(error) ?? '')?.[1];
  return code === undefined ? error : Object.assign(new Error('There is no connection', { cause: error }), { code });
}

function grpcDetails(error: A2AError): string | undefined {
  const { details } = (error.cause ?? {}) as { readonly details?: unknown };
  return typeof details === 'string' && details !== '' ? details : undefined;
}

/** How `fetch` tells that a body broke off. */
function isCutConnection(thrown: unknown): boolean {
  const { name, message } = (thrown ?? {}) as { readonly name?: unknown; readonly message?: unknown };
  const { code } = (causeOf(thrown) ?? {}) as { readonly code?: unknown };
  return name === 'TypeError' && (message === 'terminated' || typeof code === 'string');
}

function causeOf(thrown: unknown): unknown {
  return (thrown as { readonly cause?: unknown } | null | undefined)?.cause;
}

/** What a peer says is cut to a sane length and kept on one line. */
function said(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length <= 1_000 ? line : `${line.slice(0, 1_000).toWellFormed()}...`;
}
