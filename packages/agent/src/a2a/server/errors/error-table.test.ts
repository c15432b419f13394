import * as library from '@a2a-js/sdk/errors';
import { grpcStatusFor } from '@a2a-js/sdk/errors/grpc';
import { AppError, REASONS, type Reason } from '@parley/service-kit';
import { toFailure } from './a2a-failure.js';
import { AGREEMENT_REASONS, PROTOCOL_ERRORS, rowOfReason, statusName } from './error-table.js';
import { jsonRpcError, restError } from './wire-errors.js';

const reasons = Object.keys(REASONS) as Reason[];
const FIXED = 'The request could not be completed because of an internal error.';

type ErrorClass = new (message?: string) => library.A2AError;

const CLASSES: readonly ErrorClass[] = [
  library.TaskNotFoundError,
  library.TaskNotCancelableError,
  library.PushNotificationNotSupportedError,
  library.UnsupportedOperationError,
  library.ContentTypeNotSupportedError,
  library.InvalidAgentResponseError,
  library.ExtendedAgentCardNotConfiguredError,
  library.ExtensionSupportRequiredError,
  library.VersionNotSupportedError,
  library.RequestMalformedError,
];

describe('the table of errors', () => {
  it.each(reasons)('has every column for %s', (reason) => {
    const failure = toFailure(new AppError(reason, 'A sentence.'));
    expect([failure.http, failure.grpc]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(failure.jsonRpc).toBeLessThanOrEqual(-32_000);
    expect(failure.jsonRpc).toBeGreaterThanOrEqual(-32_768);
    expect(failure.http).toBeGreaterThanOrEqual(400);
    expect(statusName(failure.grpc)).not.toBe('UNKNOWN');
    expect(statusName(failure.grpc)).not.toBe('OK');
    expect(failure.reason).toMatch(/^[A-Z][A-Z0-9_]*$/);
    expect(failure.message).toBe('A sentence.');
  });

  it.each(CLASSES)('says of %o what the protocol says', (Class) => {
    const error = new Class('A sentence.');
    const failure = toFailure(error);
    const expected = library.toJsonRpcError(error);
    expect(failure).toMatchObject({
      reason: error.reason,
      message: 'A sentence.',
      jsonRpc: expected.code,
      http: library.restStatusFor(error),
      grpc: grpcStatusFor(error),
    });
    expect(restError(failure)).toEqual(library.toRestErrorBody(error, failure.http));
    expect(jsonRpcError(failure)).toEqual(expected);
  });

  it('knows all errors of the protocol’s library', () => {
    const exported = Object.values(library).filter(
      (value) =>
        typeof value === 'function' && value !== library.A2AError && value.prototype instanceof library.A2AError,
    ) as ErrorClass[];
    const named = exported.filter(({ name }) => !/^(?:Rest|JsonRpc)/.test(name));
    expect(new Set(named)).toEqual(new Set(CLASSES));
  });

  it.each(Object.entries(AGREEMENT_REASONS))('tells %s alike, however it is thrown', (info, reason) => {
    const ours = toFailure(new AppError(reason, 'A sentence.', { code: info.toLowerCase() }));
    expect(ours).toMatchObject({ ...rowOfReason(reason), reason: info });
    const theirs = Object.assign(new library.UnsupportedOperationError('A sentence.'), { reason: info });
    expect(toFailure(theirs)).toMatchObject({ ...rowOfReason(reason), reason: info, message: 'A sentence.' });
  });

  it('says how an agreement ended, and when to come back', () => {
    const ended = new AppError('gone', 'Over.', {
      code: 'agreement_ended',
      errors: [{ path: 'agreement_id', message: 'revoked' }],
    });
    expect(jsonRpcError(toFailure(ended)).data[0]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'AGREEMENT_ENDED',
      domain: 'a2a-protocol.org',
      metadata: { end_reason: 'revoked' },
    });
    const suspended = new AppError('unavailable', 'Later.', { code: 'agreement_suspended', retryAfterSeconds: 4 });
    expect(jsonRpcError(toFailure(suspended)).data[1]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: '4s',
    });
  });

  it.each([
    new Error('password 1234'),
    new TypeError('cannot read properties of undefined'),
    'a text',
    undefined,
    new library.A2AError('password 1234'),
    new DOMException('aborted by itself', 'AbortError'),
  ])('tells %s by a fixed sentence', (thrown) => {
    expect(toFailure(thrown)).toMatchObject({
      ...PROTOCOL_ERRORS.INTERNAL_ERROR,
      reason: 'INTERNAL_ERROR',
      message: FIXED,
    });
  });

  it('tells an abort as the caller’s when the call is over', () => {
    expect(toFailure(new DOMException('left', 'AbortError'), true).reason).toBe('CANCELLED');
  });

  it('never takes a reason out of a prototype', () => {
    for (const code of ['constructor', '__proto__', 'toString']) {
      expect(toFailure(new AppError('conflict', 'A sentence.', { code }))).toMatchObject(rowOfReason('conflict'));
    }
  });
});
