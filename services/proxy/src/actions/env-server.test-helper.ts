import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import type { EnvServer } from '../domain/facts.js';

export interface SeenRequest {
  readonly http: string;
  readonly path: string;
  readonly rpc: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** As it came. */
  readonly body: string;
}

export interface RpcRequest {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly name?: string; readonly arguments?: Record<string, unknown>; readonly cursor?: string };
}

/** Answers a request itself, and says so with true; otherwise it is answered as usual. */
export type Script = (request: RpcRequest, response: ServerResponse, seen: SeenRequest) => boolean | Promise<boolean>;

/** An MCP server over HTTP that a test can make misbehave. */
export class TestEnvServer {
  readonly seen: SeenRequest[] = [];
  readonly sessions = new Set<string>();
  tools: readonly Record<string, unknown>[] = [{ name: 'echo', inputSchema: { type: 'object' } }];
  script: Script = () => false;
  #sessionCount = 0;
  #waiting: { readonly kind: string; readonly count: number; readonly resolve: () => void }[] = [];

  private constructor(
    readonly http: Server,
    readonly name: string,
  ) {}

  static async start(name = 'calc'): Promise<TestEnvServer> {
    const http = createServer();
    const server = new TestEnvServer(http, name);
    http.on('request', (request, response) => void server.#serve(request, response));
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${String((this.http.address() as AddressInfo).port)}`;
  }

  registered(headers: Readonly<Record<string, string>> = {}): EnvServer {
    return { name: this.name, url: `${this.origin}/mcp`, headers };
  }

  /** What came of one kind: a method of JSON-RPC, or `DELETE`. */
  of(kind: string): SeenRequest[] {
    return this.seen.filter(({ rpc, http }) => (rpc ?? http) === kind);
  }

  /** Resolves once so many of a kind have come. */
  async arrived(kind: string, count = 1): Promise<void> {
    if (this.of(kind).length >= count) return;
    await new Promise<void>((resolve) => this.#waiting.push({ kind, count, resolve }));
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const rpc = (body === '' ? { method: undefined } : JSON.parse(body)) as RpcRequest;
    const seen = {
      http: request.method ?? '',
      path: request.url ?? '',
      rpc: rpc.method,
      headers: request.headers,
      body,
    };
    this.seen.push(seen);
    for (const { resolve } of this.#waiting.filter(({ kind, count }) => this.of(kind).length >= count)) resolve();
    if (await this.script(rpc, response, seen)) return;
    this.#answer(rpc, response, seen);
  }

  #answer(rpc: RpcRequest, response: ServerResponse, seen: SeenRequest): void {
    const session = String(seen.headers['mcp-session-id']);
    if (seen.http === 'DELETE') return void response.end();
    if (rpc.method === 'initialize') {
      this.#sessionCount += 1;
      const id = `session-${String(this.#sessionCount)}`;
      this.sessions.add(id);
      response.setHeader('mcp-session-id', id);
      sendResult(response, rpc, {
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: 't', version: '1' },
      });
      return;
    }
    if (!this.sessions.has(session)) return void response.writeHead(404).end('unknown session');
    if (rpc.id === undefined) return void response.writeHead(202).end();
    if (rpc.method === 'tools/list') sendResult(response, rpc, { tools: this.tools });
    else sendText(response, rpc, JSON.stringify(rpc.params.arguments));
  }
}

export function sendJson(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'application/json').end(text);
}

export function sendResult(response: ServerResponse, request: RpcRequest, result: unknown): void {
  sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: request.id, result }));
}

export function sendText(response: ServerResponse, request: RpcRequest, text: string, isError = false): void {
  sendResult(response, request, { content: [{ type: 'text', text }], isError });
}

/** Accepts connections and never says a word. */
export async function silentServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
