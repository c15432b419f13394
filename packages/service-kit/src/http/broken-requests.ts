import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../errors/app-error.js';
import { toProblem } from '../errors/problem.js';
import type { Logger } from '../logging/logger.js';

/** How long a refused caller may take to read why. */
const LINGER_MS = 1_000;

/** Answers what node cannot parse, and therefore never reaches a handler, with a problem instead of a bare line. */
export function answerBrokenRequests(
  server: Server,
  logger: Logger,
  pending: (socket: Socket) => ServerResponse | undefined,
): void {
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    const response = pending(socket);
    // Nothing may be written into an answer that has begun, nor before one to an earlier request.
    const inTheWay = response !== undefined && (response.headersSent || response.req.complete);
    if (!socket.writable || error.code === 'ECONNRESET' || inTheWay) {
      socket.destroy();
      return;
    }
    const problem = brokenRequestProblem(error.code);
    const requestId = randomUUID();
    logger.debug('request refused', { request_id: requestId, code: problem.code, detail: problem.message, error });
    sendRaw(socket, problem, requestId);
  });
}

function brokenRequestProblem(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The header fields are larger than 16 KiB.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new AppError('payload_too_large', 'The chunk extensions of the body are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive in time.');
    default:
      return new AppError('invalid_request', 'This is not a valid HTTP request.');
  }
}

function sendRaw(socket: Socket, problem: AppError, requestId: string): void {
  const body = JSON.stringify(toProblem(problem, requestId));
  socket.end(
    [
      `HTTP/1.1 ${String(problem.status)} ${STATUS_CODES[problem.status] ?? 'Refused'}`,
      'Content-Type: application/problem+json; charset=utf-8',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      'Cache-Control: no-store',
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // What is still arriving is read and dropped: closing on unread bytes would reset the connection and take
  // the answer with it. A caller that does not close by itself is cut.
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  socket.resume();
  const timer = setTimeout(() => {
    socket.destroy();
  }, LINGER_MS);
  timer.unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/** What node would answer by itself with an empty 400. */
export function hasNoHost(request: IncomingMessage): boolean {
  return request.headers.host === undefined && request.httpVersion === '1.1';
}
