import type { JsonObject as PlainObject } from '@parley/harness';
import type { JsonObject } from '@parley/proxy-protocol';

/** With every number as the double that is nearest to it. */
export function plainObject(value: JsonObject): PlainObject {
  return JSON.parse(JSON.stringify(value)) as PlainObject;
}
