import { HarnessError } from '../errors.js';

/** A configuration of MCP servers that cannot be used. The message names the file, the field and the rule. */
export class McpConfigError extends HarnessError {
  override readonly name = 'McpConfigError';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('mcp_config_invalid', message, options);
  }
}

/**
 * How far a call got before its server was lost: `none` never reached it, `unavailable` was turned away by something
 * in front of it, `unknown` may have been carried out.
 */
export type McpDelivery = 'none' | 'unavailable' | 'unknown';

/** The connection to a server is gone, or could not be made. */
export class McpServerLostError extends HarnessError {
  override readonly name = 'McpServerLostError';

  constructor(
    readonly service: string,
    readonly delivery: McpDelivery,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super('mcp_server_lost', message, options);
  }
}

/** A server did not answer in time. */
export class McpTimeoutError extends HarnessError {
  override readonly name = 'McpTimeoutError';

  constructor(service: string, timeoutMs: number) {
    super('mcp_timeout', `MCP server "${service}" did not answer within ${timeoutMs} ms`);
  }
}
