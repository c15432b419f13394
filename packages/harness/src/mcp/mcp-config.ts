import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { TOOL_EFFECTS } from '../enums.js';
import { messageOf } from '../errors.js';
import { McpConfigError } from './mcp-errors.js';

/** Node's timers cannot wait longer. */
const MAX_TIMER_MS = 2_147_483_647;

const durationMs = z.number().int().min(1).max(MAX_TIMER_MS);
const toolNames = z.array(z.string().min(1)).readonly();

const shared = {
  /** Left out as if it were not there. Default false. */
  disabled: z.boolean().optional(),
  /** By the server's own tool names. Others are side_effecting; a name that the server lacks fails the start. */
  effects: z.record(z.string(), z.enum(TOOL_EFFECTS)).optional(),
  /** Only these of the server's tools. */
  include: toolNames.optional(),
  /** All but these. */
  exclude: toolNames.optional(),
  /** Takes the server's word (readOnlyHint) for tools that `effects` does not name. Default false. */
  trustAnnotations: z.boolean().optional(),
  /** One call's time, in milliseconds. Default 120,000. */
  timeoutMs: durationMs.optional(),
  /** From start to the first list of tools, and for a reconnect, in milliseconds. Default 30,000. */
  connectTimeoutMs: durationMs.optional(),
};

const stdioServer = z.looseObject({
  ...shared,
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).readonly().optional(),
  /** Added to a few harmless variables of this process; nothing else is inherited. */
  env: z.record(z.string(), z.string()).optional(),
  /** Relative paths start at the configuration file. */
  cwd: z.string().min(1).optional(),
});

const httpServer = z.looseObject({
  ...shared,
  type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(),
  url: z.url({ protocol: /^https?$/u }),
  headers: z.record(z.string(), z.string()).optional(),
});

const serverName = z.string().min(1).max(200);

const configSchema = z.object({ mcpServers: z.record(serverName, z.unknown()) });

export type McpStdioServerConfig = z.infer<typeof stdioServer>;
export type McpHttpServerConfig = z.infer<typeof httpServer>;
export type McpServerConfig = McpStdioServerConfig | McpHttpServerConfig;

/** The servers by their names, in the order in which their tools are listed. */
export interface McpConfig {
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
}

export function isStdioServer(config: McpServerConfig): config is McpStdioServerConfig {
  return 'command' in config;
}

/**
 * Checks a configuration. Fields that it does not know are left alone: other programs read the same file.
 *
 * @throws McpConfigError naming every field that is wrong, never its value.
 */
export function parseMcpConfig(value: unknown, source = 'MCP configuration'): McpConfig {
  const outer = configSchema.safeParse(value);
  if (!outer.success) throw invalid(source, issuesOf(outer.error, []));
  const servers: Record<string, McpServerConfig> = {};
  const issues: string[] = [];
  for (const [name, raw] of Object.entries(outer.data.mcpServers)) {
    const parsed = parseServer(raw, name);
    if (Array.isArray(parsed)) issues.push(...parsed);
    else servers[name] = parsed;
  }
  if (issues.length > 0) throw invalid(source, issues);
  return { mcpServers: servers };
}

/**
 * Reads a configuration file.
 *
 * @throws McpConfigError if it cannot be read, is no JSON, or has a wrong field.
 */
export async function loadMcpConfig(path: string): Promise<McpConfig> {
  const config = parseMcpConfig(await readJson(path), path);
  const folder = dirname(resolve(path));
  const servers = Object.entries(config.mcpServers).map(
    ([name, server]) => [name, withFolder(server, folder)] as const,
  );
  return { mcpServers: Object.fromEntries(servers) };
}

/** Which form is meant is told by the field that only it has, so that the issues are about that form. */
function parseServer(raw: unknown, name: string): McpServerConfig | string[] {
  const path = ['mcpServers', name];
  if (typeof raw !== 'object' || raw === null) return [`${path.join('.')}: must be an object`];
  const hasCommand = 'command' in raw;
  if (hasCommand === 'url' in raw) return [`${path.join('.')}: needs either "command" or "url"`];
  const parsed = hasCommand ? stdioServer.safeParse(raw) : httpServer.safeParse(raw);
  return parsed.success ? parsed.data : issuesOf(parsed.error, path);
}

function issuesOf(error: z.ZodError, prefix: readonly string[]): string[] {
  return error.issues.map(
    (issue) => `${[...prefix, ...issue.path].map(String).join('.') || '(root)'}: ${issue.message}`,
  );
}

function invalid(source: string, issues: readonly string[]): McpConfigError {
  return new McpConfigError(`${source} is not valid: ${issues.join('; ')}`);
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new McpConfigError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message quotes the text around the mistake, which may hold a credential.
    throw new McpConfigError(`${path} is no JSON`);
  }
}

function withFolder(server: McpServerConfig, folder: string): McpServerConfig {
  if (!isStdioServer(server) || server.cwd === undefined) return server;
  return { ...server, cwd: resolve(folder, server.cwd) };
}
