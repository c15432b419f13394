import { isJsonObject } from '@parley/proxy-protocol';
import type { Action, Json } from '../../domain/facts.js';
import {
  anyObject,
  listOf,
  literal,
  looseInteger,
  nullable,
  request,
  seconds,
  shape,
  text,
  wrongField,
} from '../fields/index.js';

const MIN_TOKEN_LENGTH = 22;
const MAX_ACTION_ID_LENGTH = 128;

const token = text();
const taskId = text();
const cursor = looseInteger({ min: 0 });

export const claimRequest = request({ token: text({ min: MIN_TOKEN_LENGTH }) }, {});
export const nextRequest = request({ token }, { after: cursor });
export const toolsRequest = request({ token, task_id: taskId }, {});
export const actRequest = request(
  {
    token,
    task_id: taskId,
    action_id: text({ min: 1, max: MAX_ACTION_ID_LENGTH }),
    action: actionField,
  },
  {},
);
export const resultRequest = request({ token, action_id: text() }, { after: nullable(cursor) });
export const cancelRequest = request({ token, action_id: text() }, {});
export const recordRequest = request(
  { token, task_id: taskId, message: messageField },
  { model: nullable(text()), usage: nullable(anyObject) },
);
export const replyRequest = request(
  { token, task_id: taskId },
  { parts: nullable(listOf(shape({ text: text() }, { kind: literal('text') }), { min: 1 })), error: nullable(text()) },
);

const bashFields = shape({ kind: literal('bash'), command: text() }, { timeout_seconds: nullable(seconds) });
const toolFields = shape(
  { kind: literal('tool'), server: text(), name: text() },
  { arguments: anyObject, timeout_seconds: nullable(seconds) },
);

function actionField(value: Json, path: string): Action {
  if (!isJsonObject(value)) throw wrongField(path, 'must be an object');
  switch (value['kind']) {
    case 'bash': {
      const { kind, command, timeout_seconds: limit } = bashFields(value, path);
      return { kind, command, ...timeout(limit) };
    }
    case 'tool': {
      const { kind, server, name, arguments: given = {}, timeout_seconds: limit } = toolFields(value, path);
      return { kind, server, name, arguments: given, ...timeout(limit) };
    }
    default:
      throw wrongField(`${path}.kind`, "must be 'bash' or 'tool'");
  }
}

function timeout(limit: number | null | undefined): { timeoutSeconds?: number } {
  return typeof limit === 'number' ? { timeoutSeconds: limit } : {};
}

/** What a message looks like is for the turn to read; here it is a string or an object. */
function messageField(value: Json, path: string): Json {
  if (typeof value === 'string') return text()(value, path);
  if (!isJsonObject(value)) throw wrongField(path, 'must be a string or an object');
  return anyObject(value, path);
}

/** Exactly one of both; `null` counts as none. */
export function replyEnd(
  parts: readonly { readonly text: string }[] | null | undefined,
  error: string | null | undefined,
): { readonly texts: readonly string[] } | { readonly error: string } {
  const texts = parts?.map((part) => part.text);
  if (texts !== undefined && typeof error !== 'string') return { texts };
  if (texts === undefined && typeof error === 'string') return { error };
  throw wrongField('', 'a reply carries exactly one of parts and error');
}
