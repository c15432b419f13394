import { AppError, failureOfCall, invalidField } from './app-error.js';
import { fromProblem, reasonOfStatus, toProblem } from './problem.js';
import { REASONS, type Reason } from './reasons.js';

const reasons = Object.keys(REASONS) as Reason[];
const SECRET = 'password=hunter2 at /srv/secret.js:12';

describe('the table of reasons', () => {
  it.each(reasons)('%s has an HTTP status of an error and a gRPC status other than OK', (reason) => {
    const { status, grpc, title } = REASONS[reason];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThanOrEqual(599);
    expect(Number.isInteger(grpc) && grpc >= 1 && grpc <= 16).toBe(true);
    expect(title).toMatch(/^[A-Z].*[a-z]$/);
    expect(new AppError(reason, 'x').status).toBe(status);
  });

  it('has no HTTP status twice, so that a status leads back to its reason', () => {
    expect(new Set(reasons.map((reason) => REASONS[reason].status)).size).toBe(reasons.length);
    for (const reason of reasons) expect(reasonOfStatus(REASONS[reason].status)).toBe(reason);
  });

  it('takes statuses that it does not know for the nearest reason', () => {
    expect(reasonOfStatus(418)).toBe('invalid_request');
    expect(reasonOfStatus(507)).toBe('internal');
  });
});

describe('a problem body', () => {
  it.each(reasons)('brings %s to the peer and back', (reason) => {
    const error = new AppError(reason, 'What is wrong.', {
      code: 'agent_id_taken',
      errors: [{ path: 'capabilities[2]', message: 'must be a name' }],
      retryAfterSeconds: 2.5,
    });
    const problem = toProblem(error, 'request-1');
    expect(problem).toMatchObject({ type: 'urn:parley:problem:agent_id_taken', request_id: 'request-1' });
    const back = fromProblem(problem.status, JSON.parse(JSON.stringify(problem)));
    expect({ ...back, message: back.message }).toEqual({ ...error, message: error.message });
  });

  it('leaves out what there is none of', () => {
    expect(toProblem(new AppError('not_found', 'No.'), 'r')).toEqual({
      type: 'urn:parley:problem:not_found',
      title: 'There is no such thing',
      status: 404,
      code: 'not_found',
      detail: 'No.',
      request_id: 'r',
    });
  });

  it('tells when to try again if something is unavailable', () => {
    expect(toProblem(new AppError('unavailable', 'Later.'), 'r').retry_after_seconds).toBe(1);
  });

  it('of another shape keeps only the status', () => {
    for (const body of [undefined, null, 'text', [], {}, { detail: 7, code: {}, errors: 'x' }]) {
      expect(fromProblem(404, body)).toMatchObject({ reason: 'not_found', code: 'not_found', errors: [] });
    }
  });

  it('of a hostile peer is cut and cannot bring a code that is no word', () => {
    const error = fromProblem(409, {
      code: 'x y\n<b>',
      detail: 'd'.repeat(100_000),
      errors: Array.from({ length: 1_000 }, () => ({ path: 'p'.repeat(5_000), message: 'm'.repeat(5_000) })),
      retry_after_seconds: Number.NaN,
    });
    expect(error.code).toBe('conflict');
    expect(error.message.length).toBeLessThan(1_100);
    expect(error.errors).toHaveLength(32);
    expect(error.errors[0]?.path.length).toBeLessThan(1_100);
    expect(error.retryAfterSeconds).toBeUndefined();
  });
});

describe('anything thrown', () => {
  it.each([
    new Error(SECRET),
    new TypeError(SECRET),
    SECRET,
    42,
    null,
    undefined,
    { message: SECRET, status: 404 },
    Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' }),
  ])('unknown becomes a fixed sentence: %#', (thrown) => {
    const error = AppError.from(thrown);
    expect(error.reason).toBe('internal');
    expect(error.cause).toBe(thrown);
    expect(JSON.stringify(toProblem(error, 'r'))).toBe(JSON.stringify(toProblem(AppError.from('other'), 'r')));
  });

  it('that is an AppError stays what it is', () => {
    const error = invalidField('name', 'too long');
    expect(AppError.from(error)).toBe(error);
  });

  it('for an abort becomes what the signal was aborted for', () => {
    const aborted = (cause?: unknown): Error => Object.assign(new Error('aborted', { cause }), { name: 'AbortError' });
    expect(AppError.from(new DOMException('', 'AbortError')).reason).toBe('cancelled');
    expect(AppError.from(new DOMException('', 'TimeoutError')).reason).toBe('deadline_exceeded');
    expect(AppError.from(aborted(new DOMException('', 'TimeoutError'))).reason).toBe('deadline_exceeded');
    expect(AppError.from(aborted(new AppError('unavailable', 'shutting down'))).reason).toBe('unavailable');
    expect(AppError.from(aborted()).reason).toBe('cancelled');
  });

  it('is told as the caller leaving only if the caller has left', () => {
    const abort = new DOMException('a connection was lost', 'AbortError');
    expect(failureOfCall(abort, true).reason).toBe('cancelled');
    expect(failureOfCall(abort, false).reason).toBe('internal');
    const meant = new AppError('cancelled', 'The turn was cancelled by its driver.');
    expect(failureOfCall(meant, false)).toBe(meant);
  });
});

describe('invalidField', () => {
  it('names the field in the sentence and in the list', () => {
    expect(invalidField('labels.region', 'too long')).toMatchObject({
      reason: 'invalid_request',
      message: 'labels.region: too long',
      errors: [{ path: 'labels.region', message: 'too long' }],
    });
    expect(invalidField('', 'must be an object').message).toBe('The request: must be an object');
  });
});
