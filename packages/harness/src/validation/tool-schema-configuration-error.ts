import { HarnessError } from '../errors.js';

/** A tool's `parameters` are no JSON Schema that can be used. */
export class ToolSchemaConfigurationError extends HarnessError {
  override readonly name = 'ToolSchemaConfigurationError';

  constructor(
    readonly toolName: string,
    detail: string,
    options?: { readonly cause?: unknown },
  ) {
    super('invalid_tool_schema', `tool '${toolName}' contains an invalid parameters schema: ${detail}`, options);
  }
}
