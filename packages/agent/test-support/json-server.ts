import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestsEnd } from '@parley/testkit';

export interface JsonRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** For answers of another kind; nothing is sent then when the handler returns `undefined`. */
  readonly response: ServerResponse;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface JsonServer {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** Everything that was asked, oldest first. */
  readonly requests: readonly JsonRequest[];
  /** Open connections, for tests that break them. */
  readonly sockets: ReadonlySet<Socket>;
  stop(): Promise<void>;
}

export type JsonHandler = (request: JsonRequest) => JsonAnswer | undefined | Promise<JsonAnswer | undefined>;

/** As an answer: somebody else writes the response. */
export const TAKEN: JsonAnswer = { status: 0 };

/** A server on a real socket that a test scripts. Stopped at the end of the test file. */
export async function startJsonServer(handler: JsonHandler, port = 0): Promise<JsonServer> {
  const requests: JsonRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    void answer(incoming, response, handler, requests);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  const address = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    forget();
    await new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
  };
  const forget = onTestsEnd(stop);
  return { url: `http://127.0.0.1:${String(address.port)}`, port: address.port, server, requests, sockets, stop };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  handler: JsonHandler,
  requests: JsonRequest[],
): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return;
  }
  const url = new URL(incoming.url ?? '/', 'http://test');
  const text = Buffer.concat(chunks).toString();
  const request: JsonRequest = {
    method: incoming.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    response,
  };
  requests.push(request);
  const result = await handler(request);
  if (result === undefined || result === TAKEN || response.destroyed) return;
  const body = result.body === undefined ? undefined : JSON.stringify(result.body);
  response.writeHead(result.status, { 'content-type': 'application/json', ...result.headers });
  response.end(body);
}

/** The body of an error answer. */
export function problem(status: number, code: string, detail = code, more: object = {}): JsonAnswer {
  return {
    status,
    body: { type: `urn:parley:problem:${code}`, title: code, status, code, detail, request_id: 'r', ...more },
  };
}
