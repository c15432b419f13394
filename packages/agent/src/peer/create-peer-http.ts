import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@parley/service-kit';
import { Agent, type Dispatcher } from 'undici';
import { deadline } from './deadline.js';
import { guardedConnector } from './guarded-connector.js';
import { aborted, invalidAnswer, peerTimeout, peerUnreachable } from './peer-errors.js';
import type { PeerAnswer, PeerHttp, PeerHttpOptions, PeerRequest, PeerStreamRequest } from './peer-http.js';
import { checkShape, errorOfAnswer, parseJson, readBytes } from './read-answer.js';
import { orAborted } from './wait.js';

const IDEMPOTENT = new Set<string>(['GET', 'PUT', 'DELETE']);
/** An error's body is read to this size whatever the caller's bound: a problem is small. */
const MAX_PROBLEM_BYTES = 65_536;

interface Call {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly repeatable: boolean;
}

/**
 * The one way out to other agents and to the registry over HTTP.
 *
 * @example
 * const http = createPeerHttp({ timeoutMs: 2_000, allowPrivateAddresses: false });
 * const { body } = await http.request({ method: 'GET', url, schema: z.object({ ok: z.boolean() }), signal });
 */
export function createPeerHttp(options: PeerHttpOptions = {}): PeerHttp {
  return new UndiciPeerHttp(options);
}

class UndiciPeerHttp implements PeerHttp {
  readonly #options: PeerHttpOptions;
  readonly #timeoutMs: number;
  readonly #dispatcher: Agent;
  readonly #hitReusedSocket: (error: unknown) => boolean;

  constructor(options: PeerHttpOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 5_000;
    const connector = guardedConnector({
      allowPrivateAddresses: options.allowPrivateAddresses ?? true,
      connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
    });
    this.#hitReusedSocket = connector.hitReusedSocket;
    this.#dispatcher = new Agent({
      connect: connector.connect,
      connections: options.maxConnectionsPerOrigin ?? 64,
      pipelining: 1,
      allowH2: false,
      // Below the 5 s after which many servers drop an idle connection.
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 60_000,
      // Every call has a deadline of its own, which covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async request<T>(request: PeerRequest<T>): Promise<PeerAnswer<T>> {
    const timeoutMs = request.timeoutMs ?? this.#timeoutMs;
    const limit = deadline(timeoutMs, request.signal);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const call: Call = {
      method: request.method,
      url: request.url,
      headers: this.#headers('application/json', request.headers, body !== undefined),
      repeatable: request.repeatable ?? IDEMPOTENT.has(request.method),
      ...(body === undefined ? {} : { body }),
    };
    try {
      const head = await this.#send(call, limit.signal);
      const ok = head.statusCode >= 200 && head.statusCode < 300;
      const maxBytes = ok ? (request.maxAnswerBytes ?? this.#options.maxAnswerBytes ?? 65_536) : MAX_PROBLEM_BYTES;
      const bytes = await orAborted(readBytes(head.body, maxBytes), limit.signal, () => limit.signal.reason);
      if (!ok) throw errorOfAnswer(head.statusCode, head.headers, bytes);
      return {
        status: head.statusCode,
        headers: plain(head.headers),
        body: checkShape(request.schema, parseJson(bytes)),
      };
    } catch (error) {
      throw this.#translate(error, request.signal, limit.signal, timeoutMs);
    } finally {
      limit.clear();
    }
  }

  async openStream(request: PeerStreamRequest): Promise<AsyncIterable<Uint8Array>> {
    const timeoutMs = request.timeoutMs ?? this.#timeoutMs;
    const limit = deadline(timeoutMs, request.signal);
    try {
      const headers = this.#headers('text/event-stream', request.headers, false);
      const head = await this.#send({ method: 'GET', url: request.url, headers, repeatable: true }, limit.signal);
      if (head.statusCode === 200) return this.#chunks(head.body, request.signal);
      const bytes = await orAborted(readBytes(head.body, MAX_PROBLEM_BYTES), limit.signal, () => limit.signal.reason);
      throw errorOfAnswer(head.statusCode, head.headers, bytes);
    } catch (error) {
      throw this.#translate(error, request.signal, limit.signal, timeoutMs);
    } finally {
      // From here on the stream lives as long as the caller's own signal.
      limit.clear();
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #send(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#dispatch(call, signal);
    } catch (error) {
      // The server had closed the idle connection while the request was on its way: nothing was answered to it.
      const repeatable = call.repeatable && !signal.aborted && this.#hitReusedSocket(error);
      if (!repeatable) throw error;
      return await this.#dispatch(call, signal);
    }
  }

  async #dispatch(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const url = parseTarget(call.url);
    const sent = this.#dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: call.method,
      headers: call.headers,
      signal,
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    // A request that still waits for a connection does not hear its signal.
    return orAborted(sent, signal, () => signal.reason);
  }

  /** Bound to the signal at once: a stream that nobody reads yet ends with it too. */
  #chunks(body: Dispatcher.ResponseData['body'], signal: AbortSignal): AsyncIterable<Uint8Array> {
    const stop = (): void => {
      body.destroy();
    };
    body.on('error', () => undefined);
    body.on('close', () => {
      signal.removeEventListener('abort', stop);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const translate = (error: unknown): AppError => this.#translate(error, signal, signal, 0);
    return (async function* () {
      try {
        if (!signal.aborted) yield* body as AsyncIterable<Uint8Array>;
        if (signal.aborted) throw aborted(signal);
      } catch (error) {
        throw translate(error);
      }
    })();
  }

  #headers(
    accept: string,
    own: Readonly<Record<string, string>> | undefined,
    hasBody: boolean,
  ): Record<string, string> {
    return {
      'user-agent': this.#options.userAgent ?? 'parley-agent',
      accept,
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...this.#options.headers?.(),
      ...own,
    };
  }

  /** The one place where failures of the wire become errors of ours. */
  #translate(error: unknown, caller: AbortSignal, limit: AbortSignal, timeoutMs: number): AppError {
    if (caller.aborted) return aborted(caller);
    if (limit.aborted) return peerTimeout(timeoutMs, error);
    if (error instanceof AppError) return error;
    const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
    if (name === 'HTTPParserError' || NOT_HTTP_CODES.has(code)) return invalidAnswer('it is not HTTP', error);
    // Our own mistake, such as a header that cannot be sent.
    if (code === 'UND_ERR_INVALID_ARG' || typeof code !== 'string') return AppError.from(error);
    return peerUnreachable(error);
  }
}

const NOT_HTTP_CODES = new Set<unknown>(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);

function parseTarget(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new AppError('invalid_request', 'The target is not an absolute http or https URL.', {
      code: 'target_invalid',
    });
  }
  return url;
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) out[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return out;
}
