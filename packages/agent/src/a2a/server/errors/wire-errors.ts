import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Metadata, type ServiceError } from '@grpc/grpc-js';
import type { A2aFailure } from './a2a-failure.js';
import { DOMAIN, statusName } from './error-table.js';

const TYPE = 'type.googleapis.com/google.rpc.';
/** Where gRPC libraries look for a google.rpc.Status with details. */
const DETAILS_KEY = 'grpc-status-details-bin';
/** All metadata of a call has to fit into 8 KiB at many peers. */
const MAX_FIELDS = 20;

type Detail = Readonly<Record<string, unknown>>;

/** The `error` member of a JSON-RPC answer. */
export function jsonRpcError(failure: A2aFailure): { code: number; message: string; data: Detail[] } {
  return { code: failure.jsonRpc, message: failure.message, data: details(failure) };
}

/** The body of an HTTP+JSON answer of protocol 1.0 (google.rpc.Status). */
export function restError(failure: A2aFailure): object {
  const { http, grpc, message } = failure;
  return { error: { code: http, status: statusName(grpc), message, details: details(failure) } };
}

/** ErrorInfo first, for those who look at one detail only. */
function details(failure: A2aFailure): Detail[] {
  const { reason, metadata, fields, retryAfterSeconds } = failure;
  const hasMetadata = Object.keys(metadata).length > 0;
  const out: Detail[] = [{ '@type': `${TYPE}ErrorInfo`, reason, domain: DOMAIN, ...(hasMetadata ? { metadata } : {}) }];
  if (fields.length > 0) {
    const fieldViolations = fields.map(({ path, message }) => ({ field: path, description: message }));
    out.push({ '@type': `${TYPE}BadRequest`, fieldViolations });
  }
  if (retryAfterSeconds !== undefined) {
    out.push({ '@type': `${TYPE}RetryInfo`, retryDelay: `${String(retryAfterSeconds)}s` });
  }
  return out;
}

/** The status of a gRPC call, with the same details. */
export function grpcError(failure: A2aFailure): Pick<ServiceError, 'code' | 'details' | 'metadata'> {
  const metadata = new Metadata();
  const bytes = encodeStatus(failure);
  metadata.set(DETAILS_KEY, Buffer.from(bytes));
  // The table has the library's numbers.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment
  return { code: failure.grpc, details: failure.message, metadata };
}

/** google.rpc.Status {code=1, message=2, details=3}; none of our contracts has these messages. */
function encodeStatus(failure: A2aFailure): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int32(failure.grpc);
  text(writer, 2, failure.message);
  any(writer, 'ErrorInfo', (info) => {
    text(info, 1, failure.reason);
    text(info, 2, DOMAIN);
    for (const [key, value] of Object.entries(failure.metadata)) {
      info.tag(3, WireType.LengthDelimited).fork();
      text(info, 1, key);
      text(info, 2, value);
      info.join();
    }
  });
  if (failure.fields.length > 0)
    any(writer, 'BadRequest', (bad) => {
      violations(bad, failure);
    });
  const { retryAfterSeconds } = failure;
  if (retryAfterSeconds !== undefined)
    any(writer, 'RetryInfo', (retry) => {
      delay(retry, retryAfterSeconds);
    });
  return writer.finish();
}

function violations(writer: BinaryWriter, { fields }: A2aFailure): void {
  for (const { path, message } of fields.slice(0, MAX_FIELDS)) {
    writer.tag(1, WireType.LengthDelimited).fork();
    text(writer, 1, path.slice(0, 200));
    text(writer, 2, message.slice(0, 200));
    writer.join();
  }
}

function delay(writer: BinaryWriter, seconds: number): void {
  writer.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(Math.ceil(seconds)).join();
}

function any(writer: BinaryWriter, name: string, write: (writer: BinaryWriter) => void): void {
  writer.tag(3, WireType.LengthDelimited).fork();
  text(writer, 1, `${TYPE}${name}`);
  writer.tag(2, WireType.LengthDelimited).fork();
  write(writer);
  writer.join().join();
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.tag(field, WireType.LengthDelimited).string(value.toWellFormed());
}
