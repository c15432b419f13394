/**
 * Every reason for which Parley refuses or fails, with what each transport says about it.
 * The `code` in a problem body is the reason itself, unless the error carries a more special one.
 *
 * HTTP: RFC 9110 and RFC 9457. gRPC: the canonical status codes (numbers, so that this file needs no gRPC).
 */
export const REASONS = {
  invalid_request: { status: 400, grpc: 3, title: 'The request is not valid' },
  unauthenticated: { status: 401, grpc: 16, title: 'Credentials are missing' },
  forbidden: { status: 403, grpc: 7, title: 'The credentials do not allow this' },
  not_found: { status: 404, grpc: 5, title: 'There is no such thing' },
  method_not_allowed: { status: 405, grpc: 12, title: 'The method is not allowed here' },
  not_acceptable: { status: 406, grpc: 3, title: 'No acceptable representation' },
  request_timeout: { status: 408, grpc: 4, title: 'The request took too long to arrive' },
  conflict: { status: 409, grpc: 6, title: 'The request conflicts with the present state' },
  gone: { status: 410, grpc: 9, title: 'It was there, and is over' },
  payload_too_large: { status: 413, grpc: 8, title: 'The body is too large' },
  unsupported_media_type: { status: 415, grpc: 3, title: 'The media type is not supported' },
  failed_precondition: { status: 422, grpc: 9, title: 'The request cannot be carried out in this state' },
  too_many_requests: { status: 429, grpc: 8, title: 'Too many requests' },
  headers_too_large: { status: 431, grpc: 3, title: 'The header fields are too large' },
  cancelled: { status: 499, grpc: 1, title: 'The caller went away' },
  internal: { status: 500, grpc: 13, title: 'Something went wrong here' },
  bad_gateway: { status: 502, grpc: 14, title: 'A partner answered wrongly' },
  unavailable: { status: 503, grpc: 14, title: 'Not available now' },
  deadline_exceeded: { status: 504, grpc: 4, title: 'It took too long' },
} as const satisfies Record<string, { status: number; grpc: number; title: string }>;

export type Reason = keyof typeof REASONS;
