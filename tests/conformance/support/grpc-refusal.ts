import { BinaryReader } from '@bufbuild/protobuf/wire';
import { status, type ServiceError } from '@grpc/grpc-js';
import { Refusal } from './voice.js';

const DETAILS = 'grpc-status-details-bin';
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

/** What a failed call says: the name of its status, and the ErrorInfo among its details. */
export function grpcRefusal(error: ServiceError): Refusal {
  const [details] = error.metadata.get(DETAILS);
  const info = details instanceof Uint8Array ? errorInfo(details) : undefined;
  return new Refusal(status[error.code], error.details, info);
}

/** `google.rpc.Status` has its details, each an `Any`, in field 3. */
function errorInfo(bytes: Uint8Array): { readonly reason?: string; readonly domain?: string } | undefined {
  for (const any of fields(bytes)[3] ?? []) {
    const { 1: [type] = [], 2: [value] = [] } = fields(any);
    if (type === undefined || value === undefined || text(type) !== ERROR_INFO) continue;
    const { 1: [reason] = [], 2: [domain] = [] } = fields(value);
    return {
      ...(reason === undefined ? {} : { reason: text(reason) }),
      ...(domain === undefined ? {} : { domain: text(domain) }),
    };
  }
  return undefined;
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');

/** The length-delimited fields by number; others are left out. */
function fields(bytes: Uint8Array): Partial<Record<number, Uint8Array[]>> {
  const reader = new BinaryReader(bytes);
  const found: Partial<Record<number, Uint8Array[]>> = {};
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === 2) (found[number] ??= []).push(reader.bytes());
    else reader.skip(type);
  }
  return found;
}
