import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@parley/testkit';
import type { Json } from './seen.js';

export interface HookCall {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json;
}

export interface WebHook {
  readonly url: string;
  readonly calls: readonly HookCall[];
  /** The first call that fits, also one that came before. */
  call(fits: (call: HookCall) => boolean): Promise<HookCall>;
  close(): Promise<void>;
}

/** Somewhere to be notified at: answers 200 and keeps what came. */
export async function startWebHook(): Promise<WebHook> {
  const calls: HookCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    calls,
    call: (fits) => waitFor(() => calls.find(fits), { timeoutMs: 10_000, what: 'a notification' }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
