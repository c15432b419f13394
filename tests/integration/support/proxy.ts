import { join } from 'node:path';
import { freePort, startProcess, type RunningProcess } from '@parley/testkit';
import { post, type Answer } from './http.js';
import { START_MS, untilReady } from './services.js';

const root = join(import.meta.dirname, '..', '..', '..');

export interface Proxy extends RunningProcess {
  readonly url: string;
  readonly httpPort: number;
  readonly grpcPort: number;
  /** One of a driver's operations. */
  drive(operation: string, fields: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a message over A2A 0.3 without waiting for its end. @returns the task's id */
  send(text: string, contextId?: string): Promise<string>;
}

export interface StartProxyOptions {
  /** Its home, and where its commands run. */
  readonly folder: string;
  /** Default: free ones. */
  readonly httpPort?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Waits until `/readyz` answers 200, not only until it listens. Default true. */
  readonly ready?: boolean;
}

/** The built proxy as it is run in production, on the loopback address. */
export async function startProxy({ folder, env, ready = true, ...ports }: StartProxyOptions): Promise<Proxy> {
  const [httpPort, grpcPort] = [ports.httpPort ?? (await freePort()), await freePort()];
  const running = await startProcess({
    command: process.execPath,
    args: [join(root, 'services', 'proxy', 'dist', 'main.js')],
    cwd: folder,
    env: {
      HOME: folder,
      A2A_HOST: '127.0.0.1',
      A2A_PORT: String(httpPort),
      PROXY_GRPC_PORT: String(grpcPort),
      PROXY_LOG_FORMAT: 'text',
      PROXY_DRAIN_DELAY_MS: '0',
      PROXY_LONG_POLL_SECONDS: '1',
      ...env,
    },
    readyWhen: /Proxy listens on http/u,
    readyTimeoutMs: START_MS,
  });
  const url = `http://127.0.0.1:${httpPort}`;
  if (ready) await untilReady({ url });
  // Its getters go on looking at the process.
  return Object.assign(Object.create(running) as RunningProcess, {
    url,
    httpPort,
    grpcPort,
    drive: (operation: string, fields: object, headers: Readonly<Record<string, string>> = {}) =>
      postText(`${url}/ext/proxy/${operation}`, fields, headers),
    send: async (text: string, contextId = 'c') => {
      const message = { messageId: crypto.randomUUID(), contextId, role: 'user', parts: [{ kind: 'text', text }] };
      const params = { message, configuration: { blocking: false } };
      const { body } = await post(`${url}/a2a`, { jsonrpc: '2.0', id: 1, method: 'message/send', params });
      return (body as { result: { id: string } }).result.id;
    },
  });
}

/** Refusals are bare sentences. */
async function postText(url: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const askedAt = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: response.ok ? (JSON.parse(text) as unknown) : text,
    ms: performance.now() - askedAt,
  };
}
