import { HarnessError } from '../errors.js';

/** A tool that cannot be offered as it is. */
export class ToolDefinitionError extends HarnessError {
  override readonly name = 'ToolDefinitionError';

  /** @param field What is wrong, such as `name` or `parameters`. */
  constructor(
    readonly field: string,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super('tool_definition', message, options);
  }
}
