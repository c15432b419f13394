import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, so that it can be closed in bounded time. */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #latest = new WeakMap<Socket, ServerResponse>();
  #draining = false;
  #closed: Promise<void> | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** To be called for every request before it is answered. */
  track(request: IncomingMessage, response: ServerResponse): void {
    this.#latest.set(request.socket, response);
    if (this.#draining) response.shouldKeepAlive = false;
  }

  /** The answer that is due, or under way, on a connection. */
  pending(socket: Socket): ServerResponse | undefined {
    const response = this.#latest.get(socket);
    return response === undefined || response.writableFinished ? undefined : response;
  }

  /**
   * Each connection ends with its next answer, and its client makes the next request of another server. Requests are
   * answered as before: whoever keeps a connection learns in no other way that a server is about to close.
   */
  drain(): void {
    this.#draining = true;
  }

  /**
   * Takes no new connections, closes idle ones at once and the others when their answer is out; what is left
   * after the grace is cut. May be called again with a shorter grace.
   */
  async close(graceMs: number): Promise<void> {
    this.drain();
    if (this.#closed === undefined) {
      if (!this.#server.listening) return;
      this.#closed = this.#begin();
    }
    const force = setTimeout(() => {
      this.#server.closeAllConnections();
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await this.#closed;
    clearTimeout(force);
  }

  async #begin(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const socket of this.#sockets) {
      // The library counts a connection that never sent a byte as busy.
      if (socket.bytesRead === 0) socket.destroy();
      const response = this.pending(socket);
      if (response !== undefined && !response.headersSent) response.shouldKeepAlive = false;
    }
    // Answers whose head had been sent before leave their connection open.
    const reaper = setInterval(() => {
      this.#server.closeIdleConnections();
    }, 50);
    this.#server.closeIdleConnections();
    await closed;
    clearInterval(reaper);
  }
}
