import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a refused caller may take to read why. */
const LINGER_MS = 1_000;

/** What a caller is told whose request never became one. */
export interface BrokenRequestAnswer {
  readonly status: number;
  /** Besides the length and the end of the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Answers what node cannot parse, and therefore never reaches a handler, instead of node's bare line.
 *
 * @param pending the answer that a connection is busy with.
 * @param answer what to say; the error's code tells what was wrong (`HPE_HEADER_OVERFLOW`, …).
 */
export function answerBrokenRequests(
  server: Server,
  pending: (socket: Socket) => ServerResponse | undefined,
  answer: (error: Error & { readonly code?: string }) => BrokenRequestAnswer,
): void {
  server.on('clientError', (error: Error & { readonly code?: string }, socket: Socket) => {
    const response = pending(socket);
    // Nothing may be written into an answer that has begun, nor before one to an earlier request.
    const isInTheWay = response !== undefined && (response.headersSent || response.req.complete);
    if (!socket.writable || error.code === 'ECONNRESET' || isInTheWay) {
      socket.destroy();
      return;
    }
    sendRaw(socket, answer(error));
  });
}

function sendRaw(socket: Socket, { status, headers, body }: BrokenRequestAnswer): void {
  socket.end(
    [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? 'Refused'}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${String(Buffer.byteLength(body))}`,
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
