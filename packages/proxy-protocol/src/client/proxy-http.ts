import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, errors, request } from 'undici';
import { parseExact } from '../json/index.js';
import { ProxyMisread, ProxyUnreachable } from './client-errors.js';

const CONNECT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** More than one driver ever holds open. */
const MAX_CONNECTIONS = 512;

const TOO_LATE = Symbol('too late');

/** What fails before a byte of the request has left. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export interface ProxyHttpOptions {
  /** Where the proxy is, such as `http://localhost:8003`; its path, if any, stands before all others. */
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How often a call without an answer is made; default 3. */
  readonly attempts?: number | undefined;
  /** Between two tries, in milliseconds; default 1,000. */
  readonly retryMs?: number | undefined;
  /** To make a connection, in milliseconds; default 10,000. */
  readonly connectMs?: number | undefined;
}

export interface HttpCall {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** From the root of the proxy, such as `/ext/proxy/next`. */
  readonly path: string;
  readonly body?: object;
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** From the start of a try to the last byte of its answer, in milliseconds. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Made again only if the proxy surely has not seen it. */
  readonly isOnce?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** The way to one proxy: connections that are kept, tries, and a deadline for each. */
export class ProxyHttp {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #attempts: number;
  readonly #retryMs: number;
  readonly #kept: Agent;
  /** A connection that was idle may be closed just when it is used again: what is not repeated gets one of its own. */
  readonly #fresh: Agent;

  /** @throws TypeError for an address that is none. */
  constructor(options: ProxyHttpOptions) {
    const url = URL.parse(options.url);
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
      throw new TypeError('a proxy has an http or https address');
    }
    this.#base = `${url.origin}${url.pathname.replace(/\/+$/u, '')}`;
    this.#headers = options.headers ?? {};
    this.#attempts = options.attempts ?? 3;
    this.#retryMs = options.retryMs ?? 1_000;
    const shared = {
      connect: { timeout: options.connectMs ?? CONNECT_MS },
      connections: MAX_CONNECTIONS,
      maxResponseSize: MAX_ANSWER_BYTES,
      // The deadline of each call is the only one.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#kept = new Agent(shared);
    this.#fresh = new Agent({ ...shared, pipelining: 0 });
  }

  /** Without credentials, query and trailing slash. */
  get base(): string {
    return this.#base;
  }

  /**
   * @throws ProxyUnreachable without an answer after the last try, ProxyMisread for one that is too large, and the
   * reason of `signal` when it is aborted.
   */
  async call(call: HttpCall): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(call);
      } catch (error) {
        const isOver = !(error instanceof ProxyUnreachable) || attempt >= this.#attempts;
        if (isOver || (call.isOnce === true && error.wasPerhapsSent)) throw error;
        await pause(this.#retryMs, call.signal);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }

  async #once(call: HttpCall): Promise<HttpAnswer> {
    call.signal?.throwIfAborted();
    const attempt = new AbortController();
    const onAbort = (): void => attempt.abort();
    call.signal?.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => attempt.abort(TOO_LATE), call.limitMs);
    try {
      const { statusCode, body } = await request(`${this.#base}${call.path}`, this.#options(call, attempt.signal));
      return { status: statusCode, text: await body.text() };
    } catch (error) {
      call.signal?.throwIfAborted();
      if (attempt.signal.reason === TOO_LATE)
        throw new ProxyUnreachable(`${this.#base} did not answer within ${call.limitMs / 1_000} s`, true);
      throw translate(error, this.#base);
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', onAbort);
    }
  }

  #options(call: HttpCall, signal: AbortSignal): { dispatcher: Dispatcher } & Omit<Dispatcher.RequestOptions, 'path'> {
    const { method = 'POST', body } = call;
    return {
      method,
      signal,
      dispatcher: call.isOnce === true ? this.#fresh : this.#kept,
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...this.#headers,
        ...call.headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    };
  }
}

/** @throws ProxyMisread */
export function readJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch (cause) {
    throw new ProxyMisread('the answer is not JSON: is this a proxy?', { cause });
  }
}

/** @throws the reason of the signal. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

function translate(error: unknown, base: string): Error {
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    return new ProxyMisread(`the answer is larger than ${MAX_ANSWER_BYTES / 1_048_576} MiB`, { cause: error });
  }
  const code = systemCode(error);
  const reason = code ?? (error instanceof Error ? error.message : 'no reason is known');
  return new ProxyUnreachable(`${base} cannot be reached (${reason})`, !NOT_SENT.has(code ?? ''), { cause: error });
}

/** Of a connection tried over several addresses, that of the first. */
function systemCode(error: unknown): string | undefined {
  let one: unknown = error;
  for (let depth = 0; depth < 6 && typeof one === 'object' && one !== null; depth += 1) {
    const { code, cause, errors: several } = one as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
    if (typeof code === 'string') return code;
    one = cause ?? several?.[0];
  }
  return undefined;
}
