import type { JsonObject } from '../json.js';

/** Where a value is put that need not be an object: arguments of a tool always are one. */
export const WRAPPED = 'result';

/** The schema of an object that holds the value. References inside of a schema start at its root, so definitions stay there. */
export function wrappedSchema(schema: JsonObject): JsonObject {
  const { $schema, $defs, definitions, ...rest } = schema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
    type: 'object',
    properties: { [WRAPPED]: rest },
    required: [WRAPPED],
    additionalProperties: false,
  };
}
