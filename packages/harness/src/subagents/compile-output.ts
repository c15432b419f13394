import { messageOf } from '../errors.js';
import type { JsonObject } from '../json.js';
import { SchemaCompiler, type ArgumentCheck } from '../validation/schema-compiler.js';
import { SubagentStartError } from './subagent-errors.js';

/** Of what is wrong with a value of a child, so much is told. */
export const MAX_OUTPUT_ERRORS = 8;

/**
 * @param name what errors call the schema.
 * @throws SubagentStartError for a schema that cannot be used.
 */
export function compileOutput(name: string, schema: JsonObject): ArgumentCheck {
  try {
    return new SchemaCompiler().compile(name, schema);
  } catch (error) {
    throw new SubagentStartError('subagent_schema_invalid', messageOf(error), { cause: error });
  }
}
