import type { JsonObject, JsonValue } from '../json.js';
import { isList, isMap, mapSchemas } from './schema-nodes.js';

/** Keyword that makes a validator count; its value is the number of steps that its schema costs once. */
export const STEP_KEYWORD = 'x-parley-steps';

/** A copy of a schema that counts how often each of its parts is applied. */
export function meteredSchema(schema: JsonObject): JsonValue {
  return mapSchemas(schema, (part) => {
    const size = ownSize(part);
    return size === 0 ? part : { ...part, [STEP_KEYWORD]: size };
  });
}

/** How many values a part compares with by itself; `enum` and `const` may be long. */
function ownSize(part: JsonObject): number {
  let size = Object.keys(part).length;
  for (const keyword of ['enum', 'const', 'required'] as const) size += sizeOf(part[keyword]);
  return size;
}

function sizeOf(value: JsonValue | undefined): number {
  if (isList(value)) return value.reduce((sum: number, item) => sum + 1 + sizeOf(item), 0);
  if (isMap(value)) return Object.values(value).reduce((sum: number, item) => sum + 1 + sizeOf(item), 0);
  return 0;
}
