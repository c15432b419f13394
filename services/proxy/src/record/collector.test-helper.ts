import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OtlpSpan, OtlpTraces } from '@parley/proxy-protocol';

export interface Received {
  readonly bytes: number;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  readonly traces: OtlpTraces;
  readonly spans: readonly OtlpSpan[];
}

type Answer = (response: ServerResponse, count: number) => void;

/** An OTLP/HTTP endpoint that keeps what it is sent and answers as told. */
export class FakeCollector {
  readonly requests: Received[] = [];
  readonly #server: Server;
  #waiters: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(answer: Answer = (response) => response.end('{}'), port = 0): Promise<FakeCollector> {
    const server = createServer();
    const collector = new FakeCollector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        collector.#take(request, Buffer.concat(chunks));
        answer(response, collector.requests.length);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return collector;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${String(this.port)}/v1/traces`);
  }

  get spans(): readonly OtlpSpan[] {
    return this.requests.flatMap(({ spans }) => spans);
  }

  async requested(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(request: IncomingMessage, body: Buffer): void {
    const traces = JSON.parse(body.toString()) as OtlpTraces;
    const spans = traces.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    this.requests.push({ bytes: body.length, headers: request.headers, path: request.url ?? '', traces, spans });
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
