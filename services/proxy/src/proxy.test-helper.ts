import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, runPhases, silentLogger } from '@parley/service-kit';
import { createProxyApp, type ProxyApp, type ProxyAppOptions } from './app.js';
import { readProxyConfig } from './config.js';

export const TOKEN = 'drv_7Yp2mKQx4VbN8sZtLwHc1g';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON. */
  readonly json: unknown;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text as they are, anything else as JSON. */
  readonly body?: unknown;
}

export interface TestProxy {
  readonly app: ProxyApp;
  readonly url: string;
  readonly home: string;
  ask(path: string, ask?: Ask): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** An operation of the driver, with its token. */
  op(name: string, fields?: object): Promise<Answer>;
  rpc(method: string, params?: object): Promise<RpcAnswer>;
  /** Sends a message without blocking and waits for its turn. */
  open(text: string, contextId?: string): Promise<string>;
  /** Replies, and waits until the task has ended. */
  end(taskId: string, text: string): Promise<RpcAnswer>;
  stop(): Promise<readonly string[]>;
}

export interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const running = new Set<TestProxy>();
let lastMessage = 0;

/** To be called after each test. */
export async function stopProxies(): Promise<void> {
  const all = [...running];
  await Promise.all(all.map((proxy) => proxy.stop()));
}

export interface StartOptions extends ProxyAppOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly logger?: Logger;
  /** Default: a new one that goes with the proxy. */
  readonly home?: string;
}

/** A proxy on a free port, with a home of its own; claimed by nobody. */
export async function startProxy(options: StartOptions = {}): Promise<TestProxy> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'proxy-test-'));
  process.env['HOME'] = home;
  const config = readProxyConfig({
    A2A_HOST: '127.0.0.1',
    A2A_PORT: '0',
    PROXY_WORK_DIR: home,
    PROXY_DRAIN_DELAY_MS: '0',
    PROXY_LONG_POLL_SECONDS: '1',
    ...options.env,
  });
  const app = createProxyApp(config, options.logger ?? silentLogger, options);
  await app.start();
  const url = `http://127.0.0.1:${String(app.httpPort)}`;
  const ask = (path: string, one: Ask = {}): Promise<Answer> => askOnce(`${url}${path}`, one);
  const post = (path: string, body?: unknown): Promise<Answer> => ask(path, { method: 'POST', body });
  const op = (name: string, fields: object = {}): Promise<Answer> =>
    post(`/ext/proxy/${name}`, { token: TOKEN, ...fields });
  const rpc = async (method: string, params?: object): Promise<RpcAnswer> =>
    (await post('/a2a', { jsonrpc: '2.0', id: 1, method, params })).json as RpcAnswer;
  const proxy: TestProxy = {
    app,
    url,
    home,
    ask,
    post,
    op,
    rpc,
    open: async (text, contextId) => {
      const sent = await rpc('message/send', message(text, { contextId }));
      const id = sent.result?.['id'] as string;
      for (let after = 0; ;) {
        const { version, turns } = (await op('next', { after })).json as Turns;
        if (turns.some((turn) => turn.task_id === id)) return id;
        after = version;
      }
    },
    end: async (id, text) => {
      await op('reply', { task_id: id, parts: [{ text }] });
      for (;;) {
        const answer = await rpc('tasks/get', { id });
        const { state } = answer.result?.['status'] as { readonly state: string };
        if (state !== 'working') return answer;
      }
    },
    stop: async () => {
      running.delete(proxy);
      const results = await runPhases(app.shutdownPhases(), silentLogger);
      if (options.home === undefined) rmSync(home, { recursive: true, force: true });
      return results.map((result) => result.outcome);
    },
  };
  running.add(proxy);
  return proxy;
}

export async function startClaimedProxy(options: StartOptions = {}): Promise<TestProxy> {
  const proxy = await startProxy(options);
  await proxy.op('claim');
  return proxy;
}

interface Turns {
  readonly version: number;
  readonly turns: readonly { readonly task_id: string }[];
}

/** Parameters of `message/send`. */
export function message(text: string, more: object = {}, configuration: object = { blocking: false }): object {
  lastMessage += 1;
  const id = `m-${String(lastMessage)}`;
  return {
    message: { messageId: id, role: 'user', parts: [{ kind: 'text', text }], ...more },
    configuration,
  };
}

export function askOnce(url: string, { method = 'GET', headers = {}, body }: Ask): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text) as unknown;
          },
        });
      });
    });
    sent.on('error', reject);
    const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
    sent.end(body === undefined ? undefined : isBytes ? body : JSON.stringify(body));
  });
}
