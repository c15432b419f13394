import type { RequestHandler } from 'express';

const METHODS = 'GET, HEAD, POST, DELETE, OPTIONS';
const ALLOWED = [
  'Content-Type',
  'Authorization',
  'A2A-Version',
  'A2A-Extensions',
  'X-A2A-Extensions',
  'Parley-Agreement-Proof',
  'traceparent',
  'tracestate',
  'If-None-Match',
  'If-Modified-Since',
  'X-Request-Id',
].join(', ');
const EXPOSED = ['A2A-Extensions', 'X-A2A-Extensions', 'ETag', 'Last-Modified', 'Retry-After', 'X-Request-Id'].join(
  ', ',
);

/** Lets web pages call, and answers what their browsers ask before. No cookies are used, so any page may. */
export function cors(allowedOrigins: '*' | readonly string[]): RequestHandler {
  return (request, response, next) => {
    const origin = originFor(request.headers.origin, allowedOrigins);
    if (allowedOrigins !== '*') response.append('Vary', 'Origin');
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Expose-Headers', EXPOSED);
    }
    if (request.method !== 'OPTIONS') {
      next();
      return;
    }
    response.setHeader('Allow', METHODS);
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Methods', METHODS);
      response.setHeader('Access-Control-Allow-Headers', ALLOWED);
      response.setHeader('Access-Control-Max-Age', '600');
    }
    response.status(204).end();
  };
}

function originFor(asking: string | undefined, allowed: '*' | readonly string[]): string | undefined {
  if (allowed === '*') return '*';
  return asking !== undefined && allowed.includes(asking) ? asking : undefined;
}
