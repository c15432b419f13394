import { isObject } from '../message-shape.js';
import { protocolFailure, type A2aFailure } from './a2a-failure.js';
import { PROTOCOL_ERRORS, type ProtocolReason } from './error-table.js';

const REASONS = Object.keys(PROTOCOL_ERRORS) as ProtocolReason[];

/**
 * A failure that the protocol's library found by itself, from the `{code, message}` it would answer. It has words for
 * what it refuses, and none that may be shown for what it stumbles over.
 *
 * @param reached whether the handler was: before that only the request can be at fault.
 */
export function libraryFailure(error: unknown, reached: boolean): A2aFailure {
  const { code, message } = isObject(error) ? error : {};
  const reason = REASONS.find((one) => PROTOCOL_ERRORS[one].jsonRpc === code);
  if (reason === undefined || reason === 'INTERNAL_ERROR' || typeof message !== 'string') return unexplained(reached);
  return protocolFailure(reason, message);
}

/** A failure without words of its own. */
export function unexplained(reached: boolean, cause?: unknown): A2aFailure {
  return reached
    ? protocolFailure('INTERNAL_ERROR', 'The request could not be completed because of an internal error.', [], cause)
    : protocolFailure('INVALID_PARAMS', 'The request does not have the form of this method.', [], cause);
}
