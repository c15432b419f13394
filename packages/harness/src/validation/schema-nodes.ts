import type { JsonObject, JsonValue } from '../json.js';

/** Keywords whose value is a map from names to schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);

/** Keywords whose value is data, not schema, whatever it looks like. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired']);

/** Objects and lists nested deeper than this are no schema that anybody wrote. */
const MAX_DEPTH = 200;

/** A copy in which `change` was applied to every object that stands where a schema may stand, children first. */
export function mapSchemas(value: JsonValue, change: (schema: JsonObject) => JsonObject, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw new RangeError('schema is nested too deeply');
  if (isList(value)) return value.map((item) => mapSchemas(item, change, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const copy = mapValues(value, (child, keyword) => {
    if (DATA.has(keyword)) return child;
    if (!MAPS.has(keyword) || !isMap(child)) return mapSchemas(child, change, depth + 1);
    return mapValues(child, (schema) => mapSchemas(schema, change, depth + 2));
  });
  return change(copy);
}

/** Every object that stands where a schema may stand. */
export function schemasIn(root: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  mapSchemas(root, (schema) => {
    found.push(schema);
    return schema;
  });
  return found;
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

function mapValues(map: JsonObject, change: (value: JsonValue, key: string) => JsonValue): JsonObject {
  // fromEntries defines properties, so that a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}
