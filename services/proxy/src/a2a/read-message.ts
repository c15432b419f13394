import { hasNonFinite, isJsonObject, numberOf } from '@parley/proxy-protocol';
import type { Json, JsonObject } from '../domain/facts.js';
import { invalid, missing, type ParameterFault, wrongParameters } from './rpc-error.js';

export interface SentMessage {
  readonly messageId: string;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  /** With the members that A2A knows, nulls left out; ids of context and task are added when it is shown. */
  readonly message: JsonObject;
  readonly parts: readonly JsonObject[];
}

type Path = readonly (string | number)[];

/** Reads `params.message` of `message/send`. @throws RpcError −32602 */
export function readMessage(params: JsonObject): SentMessage {
  const at: Path = ['params', 'message'];
  const given = params['message'];
  if (given === undefined) throw wrongParameters(missing(...at));
  if (!isJsonObject(given)) fail(invalid('Input should be a valid dictionary', ...at));
  const messageId = needText(given, 'messageId', at);
  const { role } = given;
  if (role === undefined) fail(missing(...at, 'role'));
  if (role !== 'user' && role !== 'agent') fail(invalid("Input should be 'agent' or 'user'", ...at, 'role'));
  const kind = given['kind'] ?? 'message';
  if (kind !== 'message') fail(invalid("Input should be 'message'", ...at, 'kind'));
  const parts = readParts(given['parts'], [...at, 'parts']);
  const message = {
    ...optionalTexts(given, 'extensions', at),
    kind,
    messageId,
    ...optionalObject(given, 'metadata', at),
    parts,
    ...optionalTexts(given, 'referenceTaskIds', at),
    role,
  };
  const contextId = optionalText(given, 'contextId', at) ?? '';
  const taskId = optionalText(given, 'taskId', at) ?? '';
  return {
    messageId,
    contextId: contextId === '' ? undefined : contextId,
    taskId: taskId === '' ? undefined : taskId,
    message,
    parts,
  };
}

/** A number of messages of the history that is asked for; undefined: all. @throws RpcError −32602 */
export function readHistoryLength(from: JsonObject | undefined, ...at: Path): number | undefined {
  const value = from?.['historyLength'];
  if (value === undefined || value === null) return undefined;
  const length = numberOf(value);
  if (length === undefined || !Number.isInteger(length)) {
    fail(invalid('Input should be a valid integer', ...at, 'historyLength'));
  }
  return length;
}

function readParts(value: Json | undefined, at: Path): readonly JsonObject[] {
  if (value === undefined) throw wrongParameters(missing(...at));
  if (!Array.isArray(value)) fail(invalid('Input should be a valid list', ...at));
  return (value as readonly Json[]).map((part, index) => readPart(part, [...at, index]));
}

function readPart(part: Json, at: Path): JsonObject {
  if (!isJsonObject(part)) fail(invalid('Input should be a valid dictionary', ...at));
  const metadata = optionalObject(part, 'metadata', at);
  switch (part['kind'] ?? kindOf(part)) {
    case 'text':
      return { kind: 'text', ...metadata, text: needText(part, 'text', at) };
    case 'data': {
      const { data } = optionalObject(part, 'data', at);
      if (data === undefined) fail(missing(...at, 'data'));
      return { data, kind: 'data', ...metadata };
    }
    case 'file':
      return { file: readFile(part['file'], [...at, 'file']), kind: 'file', ...metadata };
    default:
      fail(invalid("Input should be 'text', 'file' or 'data'", ...at, 'kind'));
  }
}

/** Parts of some senders do not say what they are. */
function kindOf(part: JsonObject): string | undefined {
  return ['text', 'data', 'file'].find((name) => Object.hasOwn(part, name));
}

function readFile(value: Json | undefined, at: Path): JsonObject {
  if (value === undefined) throw wrongParameters(missing(...at));
  if (!isJsonObject(value)) fail(invalid('Input should be a valid dictionary', ...at));
  const read = (name: string): JsonObject => {
    const text = optionalText(value, name, at);
    return text === undefined ? {} : { [name]: text };
  };
  const content = { ...read('bytes'), ...read('mimeType'), ...read('name'), ...read('uri') };
  if (content['bytes'] === undefined && content['uri'] === undefined) fail(missing(...at, 'bytes'));
  return content;
}

function needText(from: JsonObject, name: string, at: Path): string {
  const read = from[name];
  if (read === undefined) throw wrongParameters(missing(...at, name));
  return asText(read, [...at, name]);
}

function optionalText(from: JsonObject, name: string, at: Path): string | undefined {
  const read = from[name];
  return read === undefined || read === null ? undefined : asText(read, [...at, name]);
}

function optionalTexts(from: JsonObject, name: string, at: Path): Record<string, Json> {
  const read = from[name];
  if (read === undefined || read === null) return {};
  if (!Array.isArray(read)) fail(invalid('Input should be a valid list', ...at, name));
  return { [name]: (read as readonly Json[]).map((one, index) => asText(one, [...at, name, index])) };
}

function optionalObject(from: JsonObject, name: string, at: Path): Record<string, JsonObject> {
  const read = from[name];
  if (read === undefined || read === null) return {};
  if (!isJsonObject(read)) fail(invalid('Input should be a valid dictionary', ...at, name));
  if (hasNonFinite(read)) fail(invalid('Input should hold finite numbers', ...at, name));
  return { [name]: read };
}

function asText(value: Json, at: Path): string {
  if (typeof value !== 'string') fail(invalid('Input should be a valid string', ...at));
  if (!value.isWellFormed()) fail(invalid('Input should be valid Unicode', ...at));
  return value;
}

function fail(fault: ParameterFault): never {
  throw wrongParameters(fault);
}
