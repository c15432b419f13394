import { A2AError } from '@a2a-js/sdk/errors';
import { failureOfCall, type AppError, type FieldError } from '@parley/service-kit';
import {
  AGREEMENT_REASONS,
  infoReason,
  isProtocolReason,
  PROTOCOL_ERRORS,
  rowOfReason,
  type ErrorRow,
  type ProtocolReason,
} from './error-table.js';

/** A failure as all wires tell it. */
export interface A2aFailure extends ErrorRow {
  /** Of the ErrorInfo. */
  readonly reason: string;
  /** Safe to show. */
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly fields: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;
  /** What really happened, for the log only. */
  readonly cause: unknown;
}

const FIXED_SENTENCE = 'The request could not be completed because of an internal error.';

/** A failure that the protocol names. */
export function protocolFailure(
  reason: ProtocolReason,
  message: string,
  fields: readonly FieldError[] = [],
  cause?: unknown,
): A2aFailure {
  return { ...PROTOCOL_ERRORS[reason], reason, message, metadata: {}, fields, retryAfterSeconds: undefined, cause };
}

/**
 * Anything thrown as a failure: errors of ours and of the protocol as such, anything else by a fixed sentence.
 * An abort is told as the caller's only when the call is over.
 */
export function toFailure(thrown: unknown, callIsOver = false): A2aFailure {
  if (thrown instanceof A2AError) return fromA2aError(thrown);
  const error = failureOfCall(thrown, callIsOver);
  const reason = infoReason(error.code);
  const row = isProtocolReason(reason) ? PROTOCOL_ERRORS[reason] : rowOfReason(error.reason);
  return {
    ...row,
    reason,
    message: error.message,
    metadata: metadataOf(error),
    fields: error.errors,
    retryAfterSeconds: error.retryAfterSeconds,
    cause: error.cause ?? thrown,
  };
}

function metadataOf(error: AppError): Record<string, string> {
  const [first] = error.errors;
  // Why it ended decides what the caller does next, so it is a member of its own.
  return error.code === 'agreement_ended' && first !== undefined ? { end_reason: first.message } : {};
}

function fromA2aError(error: A2AError): A2aFailure {
  const { reason, metadata = {}, message } = error;
  const rest = { reason, message, metadata, fields: [], cause: error.cause ?? error };
  if (reason === 'INTERNAL_ERROR') return internal(error);
  if (isProtocolReason(reason)) return { ...PROTOCOL_ERRORS[reason], ...rest, retryAfterSeconds: undefined };
  if (Object.hasOwn(AGREEMENT_REASONS, reason)) {
    const ours = AGREEMENT_REASONS[reason as keyof typeof AGREEMENT_REASONS];
    return { ...rowOfReason(ours), ...rest, retryAfterSeconds: ours === 'unavailable' ? 1 : undefined };
  }
  return { ...PROTOCOL_ERRORS.UNSUPPORTED_OPERATION, ...rest, retryAfterSeconds: undefined };
}

function internal(cause: unknown): A2aFailure {
  return protocolFailure('INTERNAL_ERROR', FIXED_SENTENCE, [], cause);
}
