import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike, Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import { watchBody } from './watch-body.js';

/** What the client gets to read the rest of an answer whose stream has ended, in milliseconds. */
const LAST_EVENTS_MS = 200;

const RESUME = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};
const RESUME_GIVEN_UP = /maximum reconnection attempts/iu;

export interface HttpServerOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Default the runtime's own, which gives up on an answer that stays silent for five minutes. */
  readonly fetch?: FetchLike;
  /** How long `close` waits for the server to end the session, in milliseconds. */
  readonly stopGraceMs: number;
}

/**
 * Speaks MCP over Streamable HTTP. The client library leaves a request open for ever if the stream of its answer ends
 * without the answer, as it does when the server dies; here such a request fails as one whose connection was closed.
 */
export class HttpServerTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];

  readonly #inner: StreamableHTTPClientTransport;
  readonly #pending = new Set<RequestId>();
  readonly #resuming = new Set<RequestId>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #fetch: FetchLike;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: HttpServerOptions) {
    this.#fetch = options.fetch ?? fetch;
    this.#inner = new StreamableHTTPClientTransport(new URL(options.url), {
      fetch: (url, init) => this.#watchedFetch(url, init),
      requestInit: { headers: { ...options.headers } },
      reconnectionOptions: RESUME,
    });
    this.#inner.onmessage = (message) => this.#receive(message);
    this.#inner.onerror = (error) => this.#hear(error);
    this.#inner.onclose = () => this.onclose?.();
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = requestIdOf(message);
    if (id !== undefined) this.#pending.add(id);
    try {
      await this.#inner.send(message);
    } catch (error) {
      if (id !== undefined) this.#pending.delete(id);
      throw error;
    }
  }

  /** Ends the session, then the connection. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await this.#endSession();
    await this.#inner.close().catch(() => undefined);
  }

  async #endSession(): Promise<void> {
    if (this.sessionId === undefined) return;
    const given = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => given.resolve(undefined), this.options.stopGraceMs);
    // A server that is gone, or that knows no sessions, has nothing to end.
    await Promise.race([this.#inner.terminateSession().catch(() => undefined), given.promise]);
    clearTimeout(timer);
  }

  async #watchedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
    const response = await this.#fetch(url, init);
    const id = init?.method === 'POST' && typeof init.body === 'string' ? idInBody(init.body) : undefined;
    if (id === undefined || !response.ok || !isEventStream(response)) return response;
    return watchBody(response, ({ resumable }) => this.#streamEnded(id, resumable));
  }

  #streamEnded(id: RequestId, resumable: boolean): void {
    if (this.#closing !== undefined) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (!this.#pending.has(id)) return;
      // The client library asks for the rest by itself if the events had ids.
      if (resumable) this.#resuming.add(id);
      else this.#fail(id);
    }, LAST_EVENTS_MS);
    this.#timers.add(timer);
  }

  #receive(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) {
      this.#pending.delete(message.id);
      this.#resuming.delete(message.id);
    }
    this.onmessage?.(message);
  }

  #hear(error: Error): void {
    this.onerror?.(error);
    if (!RESUME_GIVEN_UP.test(error.message)) return;
    for (const id of this.#resuming) this.#fail(id);
  }

  #fail(id: RequestId): void {
    this.#receive({ jsonrpc: '2.0', id, error: { code: ErrorCode.ConnectionClosed, message: 'Connection closed' } });
  }
}

function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

function requestIdOf(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

function idInBody(body: string): RequestId | undefined {
  return requestIdOf(JSON.parse(body) as JSONRPCMessage);
}
