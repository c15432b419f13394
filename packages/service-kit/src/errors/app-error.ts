import { REASONS, type Reason } from './reasons.js';

/** Where a request is wrong: `path` as in `capabilities[2]` or `labels.region`, empty for the whole. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export interface AppErrorOptions {
  /** More special than the reason, stable, for programs: `agent_id_taken`. Default: the reason. */
  readonly code?: string;
  readonly errors?: readonly FieldError[];
  /** Sent as `Retry-After`, in seconds. Default for `unavailable`: 1. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The one error that crosses a room's border. `message` is safe to show to whoever asked;
 * what really happened belongs into `cause`, which goes to the log and the span only.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly reason: Reason;
  readonly code: string;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: Reason, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.code = options.code ?? reason;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? (reason === 'unavailable' ? 1 : undefined);
  }

  get status(): number {
    return REASONS[this.reason].status;
  }

  /**
   * Turns anything thrown into an AppError: an abort into what it was aborted for (the caller left, or the
   * deadline passed), unknown things into `internal` with a fixed sentence.
   */
  static from(thrown: unknown): AppError {
    if (thrown instanceof AppError) return thrown;
    const name = nameOf(thrown);
    if (name === 'TimeoutError') return deadlineExceeded(thrown);
    if (name === 'AbortError') {
      // Timers and event helpers wrap the reason for which a signal was aborted.
      const { cause } = thrown as { readonly cause?: unknown };
      if (cause instanceof AppError) return cause;
      if (nameOf(cause) === 'TimeoutError') return deadlineExceeded(thrown);
      return new AppError('cancelled', 'The caller went away before the answer was ready.', { cause: thrown });
    }
    return internalError(thrown);
  }
}

/**
 * What a transport answers for something thrown by a handler: as `AppError.from`, but an abort while
 * the caller is still there is the handler's own doing and must not be told as the caller's.
 */
export function failureOfCall(thrown: unknown, callIsOver: boolean): AppError {
  const error = AppError.from(thrown);
  return error.reason === 'cancelled' && error !== thrown && !callIsOver ? internalError(thrown) : error;
}

function internalError(cause: unknown): AppError {
  return new AppError('internal', 'The request could not be completed because of an internal error.', { cause });
}

/** By name, not by class: a DOMException is no `Error` of every realm. */
function nameOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const { name } = thrown as { readonly name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

function deadlineExceeded(cause: unknown): AppError {
  return new AppError('deadline_exceeded', 'The request took longer than its deadline.', { cause });
}

/** Shorthand for the commonest refusal: one field is wrong. */
export function invalidField(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path === '' ? 'The request' : path}: ${message}`, {
    errors: [{ path, message }],
  });
}
