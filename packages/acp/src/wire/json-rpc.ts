import type { AnyMessage, AnyRequest, AnyResponse, JsonRpcId } from '@agentclientprotocol/sdk';

type Fields = Readonly<Record<string, unknown>>;

/** A message as it came: an answer may have any content, its request then fails. */
export type IncomingKind = 'request' | 'notification' | 'answer';

/** Undefined for what is no message of JSON-RPC 2.0. */
export function kindOf(value: unknown): IncomingKind | undefined {
  if (!isFields(value) || value['jsonrpc'] !== '2.0') return undefined;
  if ('method' in value) {
    if (typeof value['method'] !== 'string') return undefined;
    if (!('id' in value)) return 'notification';
    return isId(value['id']) ? 'request' : undefined;
  }
  return isId(value['id']) && ('result' in value || 'error' in value) ? 'answer' : undefined;
}

export function isRequest(message: AnyMessage): message is AnyRequest {
  return kindOf(message) === 'request';
}

export function isAnswer(message: AnyMessage): message is AnyResponse {
  return kindOf(message) === 'answer';
}

/** How a message is called in logs and errors; no content of it. */
export function nameOf(message: AnyMessage): string {
  if (isAnswer(message)) return 'error' in message ? 'an error as the answer' : 'an answer';
  return isRequest(message) ? `the request ${message.method}` : `the notification ${message.method}`;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is JsonRpcId {
  return value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}
