import { AppError } from '@parley/service-kit';
import { Agent, fetch as undiciFetch } from 'undici';
import { targetRefused } from '../../peer/check-address.js';
import { guardedConnector } from '../../peer/guarded-connector.js';
import { invalidAnswer, peerUnreachable } from '../../peer/peer-errors.js';
import type { PeerHttpOptions } from '../../peer/peer-http.js';
import { parseJson, readBytes } from '../../peer/read-answer.js';
import { errorOfHttp } from './wire-errors.js';

export interface GuardedFetch {
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

export interface GuardedFetchOptions extends Pick<
  PeerHttpOptions,
  'connectTimeoutMs' | 'allowPrivateAddresses' | 'maxConnectionsPerOrigin' | 'userAgent'
> {
  /** Larger answers are refused; a stream is bounded event by event instead. Default 8 MiB. */
  readonly maxAnswerBytes?: number;
  /** A stream without a byte for so long counts as broken: agents send a comment every few seconds. Default 120,000. */
  readonly streamSilenceMs?: number;
}

const MAX_ERROR_BYTES = 65_536;

/**
 * `fetch` as the protocol's library calls it, with the rules of the peer room: every address is checked when it is
 * connected to, redirects are not followed, answers are bounded. Its time is bounded by whoever passes the signal; the
 * limits of the platform's own fetch (300 s until the headers) do not apply.
 *
 * Throws AppErrors, also for statuses outside 200-299: the library would forget the reasons that it does not know.
 */
export function guardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const connector = guardedConnector({
    allowPrivateAddresses: options.allowPrivateAddresses ?? true,
    connectTimeoutMs: options.connectTimeoutMs ?? 3_000,
  });
  const dispatcher = new Agent({
    connect: connector.connect,
    connections: options.maxConnectionsPerOrigin ?? 64,
    pipelining: 1,
    allowH2: false,
    // Below the 5 s after which many servers drop an idle connection.
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: options.streamSilenceMs ?? 120_000,
  });
  const maxBytes = options.maxAnswerBytes ?? 8 * 1_048_576;
  const call = async (target: unknown, init: RequestInit = {}): Promise<Response> => {
    const headers = { 'user-agent': options.userAgent ?? 'parley-agent', ...(init.headers as Record<string, string>) };
    const request = { ...init, headers, dispatcher, redirect: 'manual' } as Parameters<typeof undiciFetch>[1];
    const response = await undiciFetch(target as string | URL, request).catch((error: unknown) => {
      throw networkError(error);
    });
    const { status, body } = response;
    if (status >= 300 && status < 400) {
      await body?.cancel();
      throw invalidAnswer(`status ${String(status)} (redirects are not followed)`);
    }
    if (!response.ok) throw errorOfHttp(status, await problemOf(body));
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- of the same shape as the platform's
    if (isStream || body === null) return response;
    const bytes = await readBytes(body, maxBytes);
    return new Response(new Uint8Array(bytes), { status, headers: [...response.headers] });
  };
  return {
    fetch: call,
    close: () => dispatcher.destroy(),
  };
}

async function problemOf(body: AsyncIterable<Uint8Array> | null): Promise<unknown> {
  try {
    return body === null ? undefined : parseJson(await readBytes(body, MAX_ERROR_BYTES));
  } catch {
    // HTML of a gateway: the status alone has to do.
    return undefined;
  }
}

/** `fetch` says "fetch failed" to everything; what happened is its cause. */
function networkError(error: unknown): unknown {
  const { name: kind, cause } = (error ?? {}) as { readonly name?: unknown; readonly cause?: unknown };
  if (kind !== 'TypeError') return error;
  if (cause instanceof AppError) return cause;
  const { code, name, message } = (cause ?? {}) as Readonly<Record<'code' | 'name' | 'message', unknown>>;
  // `fetch` keeps away from the ports of old services, whoever listens there.
  if (message === 'bad port') return targetRefused();
  if (name === 'HTTPParserError') return invalidAnswer('it is not HTTP', cause);
  return typeof code === 'string' ? peerUnreachable(cause) : error;
}
