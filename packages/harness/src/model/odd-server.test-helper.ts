import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What a server does with one request. */
export type Answering = (answer: Answer) => void | Promise<void>;

/** One response, written as oddly as a test wants it. */
export class Answer {
  constructor(
    readonly request: IncomingMessage,
    readonly body: Record<string, unknown>,
    readonly response: ServerResponse,
  ) {}

  get socket(): Socket {
    return this.request.socket;
  }

  /** Resolves when the client has closed its side, or the connection. */
  async clientGone(): Promise<void> {
    // Not `once` of node:events: that fails if the client resets the connection.
    if (!this.socket.destroyed) await new Promise((resolve) => this.socket.once('close', resolve));
  }

  /** Begins an event stream. */
  begin(type = 'text/event-stream'): this {
    this.response.writeHead(200, { 'content-type': type });
    return this;
  }

  /** Writes one after the other; what comes at once, a client may also read at once. */
  packets(...packets: readonly (string | Buffer)[]): this {
    for (const packet of packets) this.response.write(packet);
    return this;
  }

  /** Writes each when the client, which is in this process, has had time to read the one before. */
  async packetsApart(...packets: readonly (string | Buffer)[]): Promise<this> {
    for (const packet of packets) {
      await new Promise<void>((resolve) => this.response.write(packet, () => resolve()));
      for (let round = 0; round < 3; round++) await new Promise(setImmediate);
    }
    return this;
  }

  /** A whole event stream: each chunk as JSON, or as it is if it is a string. */
  stream(...chunks: readonly unknown[]): void {
    this.begin().chunks(...chunks);
    this.response.end('data: [DONE]\n\n');
  }

  chunks(...chunks: readonly unknown[]): this {
    const text = (chunk: unknown): string => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk));
    return this.packets(...chunks.map((chunk) => `data: ${text(chunk)}\n\n`));
  }

  end(): void {
    this.response.end();
  }

  status(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const json = typeof body !== 'string';
    const type = json ? 'application/json' : body.startsWith('<') ? 'text/html' : 'text/plain';
    this.response.writeHead(status, { 'content-type': type, ...headers });
    this.response.end(json ? JSON.stringify(body) : body);
  }

  /** Sends what was written, then breaks the connection. */
  async breakOff(): Promise<void> {
    await new Promise<void>((resolve) => this.response.write('\n', () => resolve()));
    this.socket.destroy();
  }
}

/** A chat-completions server on this machine that answers as it is told. */
export class OddServer {
  readonly requests: Answer[] = [];
  readonly #server: Server;
  readonly #mistakes: unknown[] = [];
  #answering: Answering = (answer) => answer.status(500, 'nothing to say');

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.#mistakes.push(error);
        request.socket.destroy();
      });
    });
  }

  static async start(): Promise<OddServer> {
    const started = new OddServer();
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    return started;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** How every request from now on is answered, or one after the other. */
  answerWith(...answering: readonly Answering[]): void {
    const queue = [...answering];
    this.requests.length = 0;
    this.#answering = (answer) => (queue.length > 1 ? queue.shift() : queue[0])?.(answer);
  }

  async connectionCount(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    if (this.#mistakes.length > 0) throw new AggregateError(this.#mistakes, 'the server of the test made mistakes');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away is part of many tests.
    response.on('error', () => undefined);
    request.socket.setNoDelay(true);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const answer = new Answer(
      request,
      JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>,
      response,
    );
    this.requests.push(answer);
    await this.#answering(answer);
  }
}
