import { AppError, type FieldError } from './app-error.js';
import { REASONS, type Reason } from './reasons.js';

/** The body of every error over HTTP (RFC 9457) and the trailer `parley-problem-bin` over gRPC. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly request_id: string;
  readonly retry_after_seconds?: number;
}

export function toProblem(error: AppError, requestId: string): ProblemBody {
  const { status, title } = REASONS[error.reason];
  return {
    type: `urn:parley:problem:${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
    ...(error.errors.length > 0 ? { errors: error.errors } : {}),
    request_id: requestId,
    ...(error.retryAfterSeconds === undefined ? {} : { retry_after_seconds: error.retryAfterSeconds }),
  };
}

const REASON_OF_STATUS = new Map<number, Reason>(
  (Object.entries(REASONS) as [Reason, { status: number }][]).map(([reason, { status }]) => [status, reason]),
);

/** The reason behind an HTTP status that some library or peer answered. */
export function reasonOfStatus(status: number): Reason {
  const exact = REASON_OF_STATUS.get(status);
  if (exact !== undefined) return exact;
  return status >= 500 ? 'internal' : 'invalid_request';
}

const MAX_DETAIL_LENGTH = 1_000;
const MAX_FIELD_ERRORS = 32;

/**
 * Reads the problem body of a peer back into an error; a body of another shape keeps only the status.
 * What a peer says is cut to a sane length, and a code that is no plain word is left out.
 */
export function fromProblem(status: number, body: unknown): AppError {
  const reason = reasonOfStatus(status);
  const fallback = `The peer answered ${String(status)}.`;
  if (typeof body !== 'object' || body === null) return new AppError(reason, fallback);
  const { code, detail, errors, retry_after_seconds: retryAfter } = body as Partial<Record<keyof ProblemBody, unknown>>;
  return new AppError(reason, typeof detail === 'string' && detail !== '' ? cut(detail) : fallback, {
    ...(typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) ? { code } : {}),
    ...(Array.isArray(errors) ? { errors: fieldErrors(errors) } : {}),
    ...(typeof retryAfter === 'number' && retryAfter >= 0 && Number.isFinite(retryAfter)
      ? { retryAfterSeconds: retryAfter }
      : {}),
  });
}

function fieldErrors(values: readonly unknown[]): FieldError[] {
  return values
    .filter(isFieldError)
    .slice(0, MAX_FIELD_ERRORS)
    .map(({ path, message }) => ({ path: cut(path), message: cut(message) }));
}

function cut(text: string): string {
  return text.length <= MAX_DETAIL_LENGTH ? text : `${text.slice(0, MAX_DETAIL_LENGTH).toWellFormed()}...`;
}

function isFieldError(value: unknown): value is FieldError {
  if (typeof value !== 'object' || value === null) return false;
  const { path, message } = value as Partial<Record<keyof FieldError, unknown>>;
  return typeof path === 'string' && typeof message === 'string';
}
