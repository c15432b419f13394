import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { ProblemSchema } from '@parley/proto';
import { AppError, type FieldError } from '../errors/app-error.js';
import { fromProblem, toProblem } from '../errors/problem.js';
import { REASONS } from '../errors/reasons.js';

/** Trailing metadata that carries the problem body beside the status. */
export const PROBLEM_TRAILER = 'parley-problem-bin';

/** Many clients refuse trailers beyond 8 KiB; a third is lost to base64 and the sentence travels twice. */
const MAX_ERRORS_BYTES = 3 * 1024;
const MAX_DETAIL_LENGTH = 512;

/** The failure of a call as grpc-js wants it: status, sentence, and the problem in the trailers. */
export function toServiceError(error: AppError, requestId: string): Partial<ServiceError> {
  // The library encodes the sentence as a URI, which throws on half a surrogate pair.
  const details = error.message.slice(0, MAX_DETAIL_LENGTH).toWellFormed();
  const metadata = new Metadata();
  metadata.set('x-request-id', requestId);
  const { errors, retry_after_seconds: retryAfterSeconds, request_id, ...rest } = toProblem(error, requestId);
  const message = create(ProblemSchema, {
    ...rest,
    detail: details,
    requestId: request_id,
    errors: fitting(errors ?? []),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
  metadata.set(PROBLEM_TRAILER, Buffer.from(toBinary(ProblemSchema, message)));
  // The table has the library's numbers, but must not know the library.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
  return { code: REASONS[error.reason].grpc, details, metadata };
}

function fitting(errors: readonly FieldError[]): FieldError[] {
  const out: FieldError[] = [];
  let bytes = 0;
  for (const { path, message } of errors) {
    bytes += Buffer.byteLength(path) + Buffer.byteLength(message) + 8;
    if (bytes > MAX_ERRORS_BYTES) break;
    out.push({ path: path.toWellFormed(), message: message.toWellFormed() });
  }
  return out;
}

/** Reads the failure of a call: the problem of a Parley peer, or else what the status says. */
export function fromServiceError(error: ServiceError): AppError {
  return fromTrailer(error) ?? fromStatus(error);
}

function fromTrailer(error: ServiceError): AppError | undefined {
  // What failed before there was an answer has no metadata, whatever the type says.
  const metadata = error.metadata as Metadata | undefined;
  const [bytes] = metadata?.get(PROBLEM_TRAILER) ?? [];
  if (bytes === undefined || typeof bytes === 'string') return undefined;
  try {
    const problem = fromBinary(ProblemSchema, bytes);
    if (problem.status < 400 || problem.status > 599) return undefined;
    return fromProblem(problem.status, {
      code: problem.code,
      detail: problem.detail,
      errors: problem.errors.map(({ path, message }) => ({ path, message })),
      retry_after_seconds: problem.retryAfterSeconds,
    });
  } catch {
    return undefined;
  }
}

function fromStatus(error: ServiceError): AppError {
  if (error.code === status.DEADLINE_EXCEEDED)
    return new AppError('deadline_exceeded', 'The peer did not answer in time.', {
      code: 'peer_timeout',
      cause: error,
    });
  if (error.code === status.CANCELLED) return new AppError('cancelled', 'The call was cancelled.', { cause: error });
  if (error.code === status.UNAVAILABLE)
    return new AppError('unavailable', 'The peer cannot be reached.', { code: 'peer_unreachable', cause: error });
  return new AppError('bad_gateway', 'The peer answered with an error.', { code: 'peer_error', cause: error });
}
