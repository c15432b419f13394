import { messageOf } from '../errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import { argumentErrors } from '../validation/argument-errors.js';
import { compileOutput, MAX_OUTPUT_ERRORS } from './compile-output.js';
import { wrappedSchema, WRAPPED } from './wrapped-schema.js';

/** What is wrong with a value, by place and rule and without any of the value itself; undefined if it fits. */
export type OutputCheck = (value: JsonValue) => string | undefined;

/**
 * A check for providers whose children hand in values that were made elsewhere.
 *
 * @throws SubagentStartError for a schema that cannot be used.
 */
export function outputCheck(outputSchema: JsonObject): OutputCheck {
  const check = compileOutput('output', wrappedSchema(outputSchema));
  return (value) => {
    try {
      const found = check({ [WRAPPED]: value });
      if (found.length === 0) return undefined;
      const { errors } = argumentErrors(found, MAX_OUTPUT_ERRORS);
      return errors
        .map(({ path, message }) => `${path.slice(WRAPPED.length + 1) || 'the value'}: ${message}`)
        .join('; ');
    } catch (error) {
      return messageOf(error);
    }
  };
}
