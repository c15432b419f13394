import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { AppError } from '../errors/app-error.js';
import { REASONS, type Reason } from '../errors/reasons.js';
import { fromServiceError, PROBLEM_TRAILER, toServiceError } from './problem-trailer.js';

const received = (error: Partial<ServiceError>): ServiceError => error as ServiceError;

describe('a problem in the trailers', () => {
  it.each(Object.keys(REASONS) as Reason[])('brings %s to the peer and back', (reason) => {
    const error = new AppError(reason, 'What is wrong: ä.', {
      code: 'agent_id_taken',
      errors: [{ path: 'capabilities[2]', message: 'must be a name' }],
      retryAfterSeconds: 2.5,
    });
    const sent = toServiceError(error, 'request-1');
    expect(sent).toMatchObject({ code: REASONS[reason].grpc, details: error.message });
    const back = fromServiceError(received(sent));
    expect({ ...back, message: back.message }).toEqual({ ...error, message: error.message });
  });

  it('stays within what clients take, however much there is to say', () => {
    const errors = Array.from({ length: 32 }, () => ({ path: 'ä'.repeat(256), message: 'ö'.repeat(512) }));
    const sent = toServiceError(new AppError('invalid_request', '€'.repeat(10_000), { errors }), 'r');
    const [trailer] = sent.metadata?.get(PROBLEM_TRAILER) ?? [];
    const onTheWire = (Buffer.from(trailer ?? '').length * 4) / 3 + encodeURI(sent.details ?? '').length;
    expect(onTheWire).toBeLessThan(12 * 1024);
    expect(fromServiceError(received(sent)).errors.length).toBeGreaterThan(0);
  });
});

describe('the failure of another peer', () => {
  const withTrailer = (bytes: Buffer): Metadata => {
    const metadata = new Metadata();
    metadata.set(PROBLEM_TRAILER, bytes);
    return metadata;
  };

  it.each([
    [status.DEADLINE_EXCEEDED, 'deadline_exceeded', 'peer_timeout'],
    [status.CANCELLED, 'cancelled', 'cancelled'],
    [status.UNAVAILABLE, 'unavailable', 'peer_unreachable'],
    [status.INTERNAL, 'bad_gateway', 'peer_error'],
    [status.UNIMPLEMENTED, 'bad_gateway', 'peer_error'],
  ])('with status %s is %s', (code, reason, special) => {
    const error = received(
      Object.assign(new Error('swordfish'), { code, details: 'swordfish', metadata: new Metadata() }),
    );
    expect(fromServiceError(error)).toMatchObject({ reason, code: special, cause: error });
    expect(fromServiceError(error).message).not.toContain('swordfish');
  });

  it('is told by its status when its trailer is no problem, or there are no trailers', () => {
    for (const metadata of [withTrailer(Buffer.from([0x0a, 0x7f])), withTrailer(Buffer.alloc(0)), undefined]) {
      const error = received({ code: status.UNAVAILABLE, ...(metadata === undefined ? {} : { metadata }) });
      expect(fromServiceError(error).reason).toBe('unavailable');
    }
  });
});
