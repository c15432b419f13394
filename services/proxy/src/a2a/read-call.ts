import { decodeJsonBody, isJsonObject, JsonError, parseExact } from '@parley/proxy-protocol';
import type { Json, JsonObject } from '../domain/facts.js';
import { invalid, isRequestId, missing, notARequest, notJson } from './rpc-error.js';

export interface RpcCall {
  /** Undefined if none came, or null: no method of A2A can do without. */
  readonly id: Json | undefined;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** @throws RpcError for what is no JSON */
export function parseRpc(bytes: Buffer): Json {
  try {
    return parseExact(decodeJsonBody(bytes));
  } catch (error) {
    if (error instanceof JsonError) throw notJson(error.message);
    throw error;
  }
}

/** What an error can be answered under: the id, if it is one. */
export function idOf(value: Json): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  const id = value['id'];
  return isRequestId(id) ? id : undefined;
}

/** @throws RpcError for what is no request; a batch is none either. */
export function readCall(value: Json): RpcCall {
  if (!isJsonObject(value)) throw notARequest(invalid('Input should be a valid dictionary'));
  const { id, jsonrpc, method, params } = value;
  if (id !== undefined && id !== null && !isRequestId(id)) {
    throw notARequest(invalid('Input should be a valid string or integer', 'id'));
  }
  if (jsonrpc !== undefined && jsonrpc !== '2.0') throw notARequest(invalid("Input should be '2.0'", 'jsonrpc'));
  if (method === undefined) throw notARequest(missing('method'));
  if (typeof method !== 'string') throw notARequest(invalid('Input should be a valid string', 'method'));
  if (params !== undefined && params !== null && !isJsonObject(params)) {
    throw notARequest(invalid('Input should be a valid dictionary', 'params'));
  }
  return { id: id ?? undefined, method, params: params ?? undefined };
}
