import { fromBinary } from '@bufbuild/protobuf';
import { status as Status, type ServiceError } from '@grpc/grpc-js';
import { ProblemSchema } from '@parley/proto';
import { AppError, fromProblem, type Reason } from '@parley/service-kit';
import { aborted, peerTimeout, peerUnreachable } from '../peer/peer-errors.js';

/** What a status means when no problem comes with it: then it is the transport's or a foreign server's. */
const REASON_OF_STATUS: Readonly<Partial<Record<Status, Reason>>> = {
  [Status.CANCELLED]: 'cancelled',
  [Status.INVALID_ARGUMENT]: 'invalid_request',
  [Status.OUT_OF_RANGE]: 'invalid_request',
  [Status.UNAUTHENTICATED]: 'unauthenticated',
  [Status.PERMISSION_DENIED]: 'forbidden',
  [Status.NOT_FOUND]: 'not_found',
  [Status.ALREADY_EXISTS]: 'conflict',
  [Status.ABORTED]: 'conflict',
  [Status.FAILED_PRECONDITION]: 'failed_precondition',
  [Status.RESOURCE_EXHAUSTED]: 'too_many_requests',
  [Status.UNIMPLEMENTED]: 'method_not_allowed',
};

/** The one place where a failed gRPC call becomes an error of ours. */
export function fromGrpcError(thrown: unknown, signal: AbortSignal, timeoutMs: number): AppError {
  if (signal.aborted) return aborted(signal);
  if (!isServiceError(thrown)) return AppError.from(thrown);
  const problem = problemOf(thrown);
  if (problem !== undefined) return problem;
  if (thrown.code === Status.DEADLINE_EXCEEDED) return peerTimeout(timeoutMs, thrown);
  if (thrown.code === Status.UNAVAILABLE) return peerUnreachable(withoutConnection(thrown));
  const reason = REASON_OF_STATUS[thrown.code];
  if (reason === undefined) {
    return new AppError('bad_gateway', "The peer's answer is not valid.", {
      code: 'peer_invalid_answer',
      cause: thrown,
    });
  }
  return new AppError(reason, thrown.details, { cause: thrown });
}

function problemOf(error: ServiceError): AppError | undefined {
  const [bytes] = error.metadata.get('parley-problem-bin');
  if (!(bytes instanceof Uint8Array)) return undefined;
  try {
    const { status, code, detail, errors, retryAfterSeconds } = fromBinary(ProblemSchema, bytes);
    const fields = errors.map(({ path, message }) => ({ path, message }));
    return fromProblem(status, {
      ...(code === '' ? {} : { code }),
      detail,
      ...(fields.length > 0 ? { errors: fields } : {}),
      ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
    });
  } catch {
    return undefined;
  }
}

/** Marks what has certainly not reached the server as a refused connection is marked over HTTP. */
function withoutConnection(error: ServiceError): Error {
  if (!/^(?:No connection established|Name resolution failed)/u.test(error.details)) return error;
  return Object.assign(new Error(error.details, { cause: error }), { code: 'ECONNREFUSED' });
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  if (!(thrown instanceof Error)) return false;
  const { code, metadata } = thrown as Partial<ServiceError>;
  return typeof code === 'number' && typeof metadata === 'object';
}
