import { STATUS_CODES, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a refused caller may take to read why. */
const LINGER_MS = 1_000;

/** Answers what node cannot parse, and therefore never reaches a handler, with a sentence. */
export function answerBrokenRequests(server: Server, pending: (socket: Socket) => ServerResponse | undefined): void {
  server.on('clientError', (error: Error & { readonly code?: string }, socket: Socket) => {
    const response = pending(socket);
    // Nothing may be written into an answer that has begun, nor before one to an earlier request.
    const isInTheWay = response !== undefined && (response.headersSent || response.req.complete);
    if (!socket.writable || error.code === 'ECONNRESET' || isInTheWay) {
      socket.destroy();
      return;
    }
    sendRaw(socket, ...refusalOf(error.code));
  });
}

function refusalOf(code: string | undefined): readonly [status: number, sentence: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, 'the header fields are larger than 32 KiB'];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'the chunk extensions of the body are too large'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'the request did not arrive in time'];
    default:
      return [400, 'this is not a valid HTTP request'];
  }
}

function sendRaw(socket: Socket, status: number, sentence: string): void {
  socket.end(
    [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? 'Refused'}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${String(Buffer.byteLength(sentence))}`,
      'Connection: close',
      '',
      sentence,
    ].join('\r\n'),
  );
  // What still arrives is read and dropped: closing on unread bytes would reset the connection and take the answer
  // with it. A caller that does not close by itself is cut.
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
