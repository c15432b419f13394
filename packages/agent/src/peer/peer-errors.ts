import { AppError } from '@parley/service-kit';

export type PeerErrorCode = 'peer_unreachable' | 'peer_timeout' | 'peer_invalid_answer' | 'target_refused';

export function peerTimeout(timeoutMs: number, cause?: unknown): AppError {
  return new AppError('deadline_exceeded', `The peer did not answer within ${String(timeoutMs)} ms.`, {
    code: 'peer_timeout',
    cause,
  });
}

export function peerUnreachable(cause: unknown): AppError {
  return new AppError('unavailable', 'The peer cannot be reached.', { code: 'peer_unreachable', cause });
}

/** `what` says what is wrong with the answer, never what stands in it. */
export function invalidAnswer(what: string, cause?: unknown): AppError {
  return new AppError('bad_gateway', `The peer's answer is not valid: ${what}.`, {
    code: 'peer_invalid_answer',
    cause,
  });
}

/** What the caller's own signal means; a deadline given as `AbortSignal.timeout` is one. */
export function aborted(signal: AbortSignal): AppError {
  const reason: unknown = signal.reason;
  if (reason instanceof AppError) return reason;
  if (reason instanceof Error && reason.name === 'TimeoutError') {
    return new AppError('deadline_exceeded', 'The time for this call is over.', {
      code: 'peer_timeout',
      cause: reason,
    });
  }
  return new AppError('cancelled', 'The call was given up.', { cause: reason });
}

/** Failures after which the peer has certainly seen nothing of the call. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether a failed call may be made elsewhere without being done twice. */
export function neverSent(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'peer_unreachable') return false;
  const cause = error.cause as { code?: unknown } | undefined;
  return typeof cause?.code === 'string' && NEVER_SENT.has(cause.code);
}

/** Failures that say nothing of the call itself: worth repeating, here or at a twin. */
export function isTransient(error: unknown): boolean {
  return error instanceof AppError && ['unavailable', 'deadline_exceeded', 'too_many_requests'].includes(error.reason);
}
