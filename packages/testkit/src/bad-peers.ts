import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestsEnd } from './children.js';

/** A peer that misbehaves in one particular way; listens on 127.0.0.1. */
export interface BadPeer {
  readonly host: string;
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Closes the listener and every connection. Also done at the end of the test file. */
  close(): Promise<void>;
}

/** Accepts every TCP connection, reads what comes and never answers: a peer that hangs. */
export async function startSilentListener(): Promise<BadPeer> {
  const server = createServer((socket) => {
    // Read, so that the peer's end is noticed and its writes do not stall first.
    socket.resume();
  });
  return listen(server);
}

export interface DripServerOptions {
  /** What trickles: the lines of the response's head, or its body after a complete head. Default `'body'`. */
  readonly part?: 'head' | 'body';
  /** Pause between two pieces. Default 20 ms. */
  readonly intervalMs?: number;
  /** One piece of the body. Default one space, which JSON readers accept for ever. */
  readonly piece?: string;
  readonly contentType?: string;
}

/**
 * Answers every HTTP request a little at a time and never comes to the end: a peer that keeps each
 * time-out for silence from firing, so that only a deadline for the whole call helps.
 */
export async function startDripServer(options: DripServerOptions = {}): Promise<BadPeer> {
  const { part = 'body', intervalMs = 20, piece = ' ', contentType = 'application/json' } = options;
  const server = createHttpServer((request, response) => {
    request.resume();
    let count = 0;
    let drip: () => void;
    if (part === 'head') {
      // Below the library: it would send a head only in one piece.
      request.socket.write('HTTP/1.1 200 OK\r\n');
      drip = () => {
        count += 1;
        request.socket.write(`x-drip-${String(count)}: 1\r\n`);
      };
    } else {
      response.writeHead(200, { 'content-type': contentType });
      drip = () => {
        response.write(piece);
      };
    }
    const timer = setInterval(drip, intervalMs);
    request.socket.once('close', () => {
      clearInterval(timer);
    });
  });
  return listen(server);
}

async function listen(server: Server): Promise<BadPeer> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    forget();
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
  };
  const forget = onTestsEnd(close);
  return {
    host: '127.0.0.1',
    port,
    url: `http://127.0.0.1:${String(port)}`,
    get accepted() {
      return accepted;
    },
    get open() {
      return sockets.size;
    },
    close,
  };
}
