import { messageOf } from '../errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import { argumentErrors } from '../validation/argument-errors.js';
import { SchemaCompiler } from '../validation/schema-compiler.js';
import { SubagentStartError } from './subagent-errors.js';
import { wrappedSchema, WRAPPED } from './wrapped-schema.js';

const MAX_ERRORS = 8;

/** What is wrong with a value, by place and rule and without any of the value itself; undefined if it fits. */
export type OutputCheck = (value: JsonValue) => string | undefined;

/**
 * A check for providers whose children hand in values that were made elsewhere.
 *
 * @throws SubagentStartError for a schema that cannot be used.
 */
export function outputCheck(outputSchema: JsonObject): OutputCheck {
  const check = compile(outputSchema);
  return (value) => {
    try {
      const found = check({ [WRAPPED]: value });
      if (found.length === 0) return undefined;
      const { errors } = argumentErrors(found, MAX_ERRORS);
      return errors
        .map(({ path, message }) => `${path.slice(WRAPPED.length + 1) || 'the value'}: ${message}`)
        .join('; ');
    } catch (error) {
      return messageOf(error);
    }
  };
}

function compile(outputSchema: JsonObject): ReturnType<SchemaCompiler['compile']> {
  try {
    return new SchemaCompiler().compile('output', wrappedSchema(outputSchema));
  } catch (error) {
    throw new SubagentStartError('subagent_schema_invalid', messageOf(error), { cause: error });
  }
}
