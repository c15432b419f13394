import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { HttpServerTransport } from './http-server-transport.js';
import { isStdioServer, type McpServerConfig } from './mcp-config.js';
import type { McpTransport } from './mcp-link.js';
import { serverEnvironment } from './server-environment.js';
import { StdioServerTransport } from './stdio-server-transport.js';

export interface TransportOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stopGraceMs: number;
  readonly fetch?: FetchLike;
}

export function createTransport(config: McpServerConfig, options: TransportOptions): McpTransport {
  const { stopGraceMs } = options;
  if (isStdioServer(config)) {
    return new StdioServerTransport({
      command: config.command,
      env: serverEnvironment(options.env, config.env),
      stopGraceMs,
      ...(config.args === undefined ? {} : { args: config.args }),
      ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    });
  }
  return new HttpServerTransport({
    url: config.url,
    headers: config.headers ?? {},
    stopGraceMs,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
}

/** What a configuration gives to its server for its eyes only. */
export function secretsOf(config: McpServerConfig): readonly string[] {
  if (isStdioServer(config)) return Object.values(config.env ?? {});
  const { password, search } = new URL(config.url);
  return [...Object.values(config.headers ?? {}), password, search];
}
