import { JSON_RPC_PATH } from './json-rpc-voice.js';
import { REST_PATH } from './rest-voice.js';
import type { Json } from './seen.js';
import type { Address } from './voice.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined for what is no JSON. */
  readonly body: Json;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown;
}

export async function ask(url: string, { method, headers = {}, body }: RawRequest = {}): Promise<RawAnswer> {
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      'a2a-version': '1.0',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: content }),
    redirect: 'manual',
    signal: AbortSignal.timeout(15_000),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One request to the JSON-RPC path, in 1.0 if no header says otherwise. */
export function askRpc({ url }: Address, body: unknown, headers: Readonly<Record<string, string>> = {}, query = '') {
  return ask(`${url}${JSON_RPC_PATH}${query}`, { body, headers });
}

/** One request below the HTTP+JSON path. */
export function askRest({ url }: Address, path: string, options: RawRequest = {}) {
  return ask(`${url}${REST_PATH}${path}`, options);
}

export const envelope = (method: string, params?: unknown, rest: object = {}): Json => ({
  ...{ jsonrpc: '2.0', id: 'request-1', method },
  ...(params === undefined ? {} : { params }),
  ...rest,
});
