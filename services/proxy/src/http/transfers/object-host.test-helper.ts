import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher } from 'undici';

export interface ObjectHost {
  /** `https://…`; `dispatcher` reaches it without TLS. */
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: Buffer;
  }[];
  stop(): Promise<void>;
}

/** A store of objects on loopback. */
export async function startObjectHost(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<ObjectHost> {
  const requests: ObjectHost['requests'] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, path: url, headers, body: Buffer.concat(chunks) });
      answer(request, response, requests.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${String(port)}`,
    dispatcher: new Agent().compose((dispatch) => (options, handler) => {
      const origin = String(options.origin).replace(/^https:/, 'http:');
      return dispatch({ ...options, origin }, handler);
    }),
    requests,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
