import type { JsonObject, JsonValue } from '../json.js';

/** True for what JSON calls an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A frozen copy that later changes of the original do not reach.
 *
 * @throws TypeError if JSON cannot hold the value.
 */
export function frozenJson(value: unknown): JsonValue {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('JSON cannot hold the value');
  return JSON.parse(text, (_key, part: unknown) => Object.freeze(part)) as JsonValue;
}
