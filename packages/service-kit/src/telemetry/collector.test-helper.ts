import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly events?: readonly { readonly name: string; readonly attributes: readonly OtlpAttribute[] }[];
}

interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export interface ReceivedSpan extends OtlpSpan {
  /** Of the instrumentation, without the common beginning: `http`, `express`, `grpc`, `ioredis`, `undici`. */
  readonly by: string;
  readonly resource: Readonly<Record<string, string>>;
}

/** An OTLP/HTTP endpoint that keeps what it is sent. */
export class Collector {
  readonly spans: ReceivedSpan[] = [];
  /** Of each request: path and body as text. */
  readonly requests: { readonly path: string; readonly text: string; readonly spanCount: number }[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
        collector.#take(request.url ?? '', text);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(path: string, text: string): void {
    const before = this.spans.length;
    if (path === '/v1/traces') {
      for (const { resource, scopeSpans } of (JSON.parse(text) as OtlpTraces).resourceSpans) {
        const attributes = Object.fromEntries(
          resource.attributes.map(({ key, value }) => [key, value.stringValue ?? '']),
        );
        for (const { scope, spans } of scopeSpans) {
          const by = scope.name.replace('@opentelemetry/instrumentation-', '');
          this.spans.push(...spans.map((span) => ({ ...span, by, resource: attributes })));
        }
      }
    }
    this.requests.push({ path, text, spanCount: this.spans.length - before });
  }

  /** Spans of one instrumentation that are children of another. */
  childrenOf(parent: { readonly spanId: string } | undefined, by: string): ReceivedSpan[] {
    if (parent === undefined) throw new Error('there is no such parent');
    return this.spans.filter((span) => span.by === by && span.parentSpanId === parent.spanId);
  }
}
