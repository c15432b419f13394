import { JsonError } from '@parley/proxy-protocol';
import { withSignal } from '@parley/service-kit';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { hasAborted } from './linked-signal.js';
import { McpError, messageOf } from './mcp-errors.js';

/** Gives the socket that it connects, so that connecting can be broken off. */
export type Connector = (...args: Parameters<buildConnector.connector>) => unknown;

/** A call may take as long as its own deadline says; the defaults end it after 300 s of silence. */
export const CLIENT_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 } as const;

export interface HttpRequest {
  readonly method: 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** The first value if there are several; empty if there is none. */
  header(name: string): string;
  /** @throws McpError `ReadError`, or the signal's reason. */
  chunks(): AsyncGenerator<Uint8Array>;
}

/** For all: undici would make one for each client that is closed, with a stack that nobody reads. */
const OVER = new Error('the exchange is over');

/** HTTP proxies of the environment are not honoured: nothing here reads `HTTP_PROXY`. */
export function createConnector(): Connector {
  // No timer of its own: the deadline of the call covers connecting too.
  return buildConnector({ timeout: 0, allowH2: false, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 });
}

/**
 * Sends one request over a connection of its own and hands its answer over; everything of it is gone when it returns.
 * An idle connection that the server is about to close would fail the call that is sent on it, and a call that may
 * have arrived must not be sent again: so none is ever used twice.
 */
export async function exchange<T>(
  request: HttpRequest,
  connector: Connector,
  signal: AbortSignal,
  read: (answer: HttpAnswer) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const link: Link = { connected: false, socket: undefined };
  const connect: buildConnector.connector = (options, callback) => {
    const report = (...result: Parameters<buildConnector.Callback>): void => {
      link.connected = result[0] === null;
      callback(...result);
    };
    link.socket = connector(options, report);
  };
  // Undici heeds the signal only once the connection stands.
  const hangUp = (): void => {
    (link.socket as { destroy(): void } | undefined)?.destroy();
  };
  signal.addEventListener('abort', hangUp);
  const client = new Client(request.url.origin, { ...CLIENT_TIMEOUTS, connect });
  try {
    const answer = await withSignal(client.request(toUndici(request, signal)), signal);
    return await read(toAnswer(answer, signal));
  } catch (error) {
    if (hasAborted(signal)) throw signal.reason;
    if (error instanceof McpError || error instanceof JsonError) throw error;
    throw new McpError(link.connected ? 'ReadError' : 'ConnectError', messageOf(error), { cause: error });
  } finally {
    signal.removeEventListener('abort', hangUp);
    client.destroy(OVER).catch(() => undefined);
  }
}

interface Link {
  connected: boolean;
  socket: unknown;
}

function toUndici(request: HttpRequest, signal: AbortSignal): Dispatcher.RequestOptions {
  return {
    path: request.url.pathname + request.url.search,
    method: request.method,
    headers: request.headers,
    body: request.body ?? null,
    signal,
    reset: true,
  };
}

function toAnswer(answer: Dispatcher.ResponseData, signal: AbortSignal): HttpAnswer {
  return {
    status: answer.statusCode,
    header: (name) => {
      const value = answer.headers[name];
      return (Array.isArray(value) ? value[0] : value) ?? '';
    },
    async *chunks() {
      const iterator = answer.body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      for (;;) {
        const next = await withSignal(iterator.next(), signal);
        if (next.done === true) return;
        yield next.value;
      }
    },
  };
}
