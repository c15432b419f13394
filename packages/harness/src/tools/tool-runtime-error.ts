import { HarnessError } from '../errors.js';

export type ToolRuntimeErrorCode =
  'middleware_misuse' | 'invalid_outcome' | 'tool_runtime_state' | 'stop_timeout' | 'tool_timeout';

/** A part that handles tools broke its contract. */
export class ToolRuntimeError extends HarnessError {
  override readonly name = 'ToolRuntimeError';

  constructor(
    override readonly code: ToolRuntimeErrorCode,
    message: string,
  ) {
    super(code, message);
  }
}
