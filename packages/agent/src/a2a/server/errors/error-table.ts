import { REASONS, type Reason } from '@parley/service-kit';

/** What each wire says about one kind of failure. */
export interface ErrorRow {
  /** `error.code` of JSON-RPC, and of the bodies of protocol 0.3. */
  readonly jsonRpc: number;
  readonly http: number;
  /** A canonical status code; its name is the `status` of an HTTP+JSON body. */
  readonly grpc: number;
}

export const DOMAIN = 'a2a-protocol.org';

/** JSON-RPC keeps the range from -32000 for servers; A2A's own codes begin below it, so this one is free for refusals of ours. */
const REFUSED = -32_000;

/**
 * What the protocol names, by the `reason` of its ErrorInfo: A2A 1.0, section 5.4, and JSON-RPC 2.0, section 5.1.
 */
export const PROTOCOL_ERRORS = {
  TASK_NOT_FOUND: { jsonRpc: -32_001, http: 404, grpc: 5 },
  TASK_NOT_CANCELABLE: { jsonRpc: -32_002, http: 400, grpc: 9 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonRpc: -32_003, http: 400, grpc: 9 },
  UNSUPPORTED_OPERATION: { jsonRpc: -32_004, http: 400, grpc: 9 },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32_005, http: 400, grpc: 3 },
  INVALID_AGENT_RESPONSE: { jsonRpc: -32_006, http: 500, grpc: 13 },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { jsonRpc: -32_007, http: 400, grpc: 9 },
  EXTENSION_SUPPORT_REQUIRED: { jsonRpc: -32_008, http: 400, grpc: 9 },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32_009, http: 400, grpc: 9 },
  INVALID_PARAMS: { jsonRpc: -32_602, http: 400, grpc: 3 },
  INVALID_REQUEST: { jsonRpc: -32_600, http: 400, grpc: 3 },
  PARSE_ERROR: { jsonRpc: -32_700, http: 400, grpc: 3 },
  METHOD_NOT_FOUND: { jsonRpc: -32_601, http: 404, grpc: 12 },
  METHOD_NOT_ALLOWED: { jsonRpc: -32_600, http: 405, grpc: 12 },
  INTERNAL_ERROR: { jsonRpc: -32_603, http: 500, grpc: 13 },
} as const satisfies Record<string, ErrorRow>;

export type ProtocolReason = keyof typeof PROTOCOL_ERRORS;

/** The JSON-RPC code of each of our reasons; the other two columns are those of `REASONS`. */
const JSON_RPC_CODES: Readonly<Record<Reason, number>> = {
  invalid_request: -32_602,
  unauthenticated: REFUSED,
  forbidden: REFUSED,
  not_found: REFUSED,
  method_not_allowed: -32_601,
  not_acceptable: -32_005,
  request_timeout: REFUSED,
  conflict: REFUSED,
  gone: REFUSED,
  payload_too_large: -32_600,
  unsupported_media_type: -32_005,
  failed_precondition: REFUSED,
  too_many_requests: REFUSED,
  headers_too_large: -32_600,
  cancelled: REFUSED,
  internal: -32_603,
  bad_gateway: REFUSED,
  unavailable: REFUSED,
  deadline_exceeded: REFUSED,
};

/** Codes of ours that are a thing of the protocol. */
const SAME_AS: Readonly<Partial<Record<string, ProtocolReason>>> = {
  invalid_request: 'INVALID_PARAMS',
  internal: 'INTERNAL_ERROR',
  unsupported_media_type: 'CONTENT_TYPE_NOT_SUPPORTED',
  task_unknown: 'TASK_NOT_FOUND',
};

/** Whose reason in an agreement's refusal is which; also for errors that only say their ErrorInfo reason. */
export const AGREEMENT_REASONS = {
  AGREEMENT_UNKNOWN: 'not_found',
  AGREEMENT_ENDED: 'gone',
  AGREEMENT_SUSPENDED: 'unavailable',
  AGREEMENT_SCOPE: 'forbidden',
  AGREEMENT_LIMIT: 'too_many_requests',
  AGREEMENT_TERMS_MISMATCH: 'conflict',
} as const satisfies Record<string, Reason>;

export function isProtocolReason(reason: string): reason is ProtocolReason {
  return Object.hasOwn(PROTOCOL_ERRORS, reason);
}

export function rowOfReason(reason: Reason): ErrorRow {
  return { jsonRpc: JSON_RPC_CODES[reason], http: REASONS[reason].status, grpc: REASONS[reason].grpc };
}

/** The ErrorInfo reason of an error of ours: the protocol's where there is one, else the code in capitals. */
export function infoReason(code: string): string {
  const same = Object.hasOwn(SAME_AS, code) ? SAME_AS[code] : undefined;
  return same ?? code.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

const STATUS_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** `NOT_FOUND` for 5. */
export function statusName(grpc: number): string {
  return STATUS_NAMES[grpc] ?? 'UNKNOWN';
}
