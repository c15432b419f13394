import type { IncomingMessage } from 'node:http';
import { decodeJsonBody, isJsonObject, JsonError, parseExact } from '@parley/proxy-protocol';
import { Refusal, type Json, type JsonObject } from '../../domain/facts.js';
import { readBody } from './read-body.js';

export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The fields of a request: those of its JSON body, whatever its content type says, or of its query string. */
export async function readFields(request: IncomingMessage): Promise<JsonObject> {
  if (request.method !== 'POST') return queryFields(request.url ?? '');
  const bytes = await readBody(request, MAX_BODY_BYTES);
  if (bytes.length === 0) return {};
  const value = parseBody(bytes);
  if (!isJsonObject(value)) throw new Refusal(400, 'request body must be a JSON object');
  return value;
}

function parseBody(bytes: Buffer): Json {
  try {
    return parseExact(decodeJsonBody(bytes));
  } catch (error) {
    if (error instanceof JsonError) throw new Refusal(400, `request body is not JSON: ${error.message}`);
    throw error;
  }
}

/** Of two fields with one name the last wins, as in a body. */
function queryFields(url: string): JsonObject {
  const at = url.indexOf('?');
  return at === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(at + 1)));
}
