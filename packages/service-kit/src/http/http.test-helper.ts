import { connect, type Socket } from 'node:net';
import type { ProblemBody } from '../errors/problem.js';
import { createLogger, type Logger } from '../logging/logger.js';
import { createMetrics, type Metrics } from '../metrics/metrics.js';
import type { AnyOperation } from '../operation.js';
import { createHttpServer, type HttpServerOptions, type RunningHttpServer } from './http-server.js';
import type { HttpRoute } from './routes.js';

/** A logger whose lines can be read, all levels. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { logger: createLogger({ service: 'test', level: 'debug', destination }), lines };
}

export interface TestServer extends RunningHttpServer {
  readonly port: number;
  readonly url: string;
  readonly lines: readonly Record<string, unknown>[];
  readonly metrics: Metrics;
}

const started = new Set<RunningHttpServer>();

/** To be called after each test. */
export async function closeServers(): Promise<void> {
  const servers = [...started];
  started.clear();
  await Promise.all(servers.map((server) => server.close(0)));
}

export async function startServer(options: Partial<HttpServerOptions> = {}): Promise<TestServer> {
  const { logger, lines } = recordingLogger();
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const server = createHttpServer({ routes: [], logger, metrics, ...options });
  started.add(server);
  const port = await server.listen(0, '127.0.0.1');
  return { ...server, port, url: `http://127.0.0.1:${String(port)}`, lines, metrics };
}

/** A route whose operation gets the body and the path parameters. */
export function route(
  method: HttpRoute['method'],
  path: string,
  operation: AnyOperation,
  more: Partial<HttpRoute> = {},
): HttpRoute {
  return {
    method,
    path,
    operation,
    input: ({ params, body }) => (body === undefined ? { ...params } : body),
    doc: { operationId: `${method}${path}`, summary: '' },
    ...more,
  };
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A connection that is written to as it comes. */
export class RawConnection {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<void>;
  #changed: (() => void) | undefined;

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    // One character for each byte: lengths are counted in bytes.
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.received += text;
      this.#changed?.();
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      const over = (): void => {
        this.#changed?.();
        resolve();
      };
      this.socket.once('end', over).once('close', over);
    });
  }

  send(data: string | Buffer): this {
    this.socket.write(data);
    return this;
  }

  /** The next answer that has its announced length. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const [head = ''] = this.received.split('\r\n\r\n', 1);
      const start = head.length + 4;
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
      if (this.received.length >= start + length && this.received.includes('\r\n\r\n')) {
        const body = Buffer.from(this.received.slice(start, start + length), 'latin1').toString('utf8');
        this.received = this.received.slice(start + length);
        return { status: Number(head.split(' ')[1]), head, body };
      }
      if (this.socket.destroyed || this.socket.readableEnded) throw new Error(`no whole answer: ${this.received}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}

/** Sends bytes on a connection of their own and gives the answer. */
export async function raw(port: number, ...parts: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const connection = new RawConnection(port);
  for (const part of parts) connection.send(part);
  const answer = await connection.answer();
  connection.socket.destroy();
  return answer;
}

/** Asserts what every refusal has in common, and gives its body. */
export function problemOf(answer: RawAnswer): ProblemBody {
  expect(answer.head).toMatch(/^content-type: application\/problem\+json/im);
  expect(answer.head).toMatch(/^x-request-id: [\w.-]+$/im);
  expect(answer.body).not.toMatch(/<html|<!doctype|<pre|\bat .*:\d+:\d+|node_modules/i);
  const problem = JSON.parse(answer.body) as ProblemBody;
  expect(problem).toMatchObject({
    status: answer.status,
    type: `urn:parley:problem:${problem.code}`,
    request_id: /^x-request-id: (.+)$/im.exec(answer.head)?.[1],
  });
  expect(problem.title).not.toBe('');
  expect(problem.detail).not.toBe('');
  return problem;
}

/** The same of an answer from fetch. */
export async function fetchedProblem(response: Response): Promise<ProblemBody> {
  const head = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\r\n');
  return problemOf({ status: response.status, head, body: await response.text() });
}
