import type { McpServerConfig } from '@parley/harness';
import { z } from 'zod';
import { pathText } from './request-params.js';
import { invalidParams, type ParamIssue } from './rpc-failures.js';

const pairs = z
  .array(z.object({ name: z.string().min(1), value: z.string() }))
  .nullish()
  .transform((list) => Object.fromEntries((list ?? []).map(({ name, value }) => [name, value])));
const name = z.string().min(1).max(200);

const stdioServer = z.object({
  name,
  command: z.string().min(1),
  args: z
    .array(z.string())
    .nullish()
    .transform((list) => list ?? []),
  env: pairs,
});
const httpServer = z.object({ name, url: z.url({ protocol: /^https?$/u }), headers: pairs });

/**
 * The servers of a client by their names, to be started in the session's folder.
 *
 * @throws -32602 that names each field that is wrong.
 */
export function readMcpServers(list: readonly unknown[], cwd: string): Readonly<Record<string, McpServerConfig>> {
  const servers = new Map<string, McpServerConfig>();
  const issues: ParamIssue[] = [];
  for (const [index, raw] of list.entries()) {
    const path = ['mcpServers', index];
    const server = readServer(raw, cwd);
    if (Array.isArray(server)) {
      issues.push(...server.map((issue) => ({ path: pathText([...path, ...issue.path]), message: issue.message })));
    } else if (servers.has(server.name)) {
      issues.push({ path: pathText([...path, 'name']), message: 'another server has this name' });
    } else {
      servers.set(server.name, server.config);
    }
  }
  if (issues.length > 0) throw invalidParams(...issues);
  return Object.fromEntries(servers);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function readServer(raw: unknown, cwd: string): { name: string; config: McpServerConfig } | Issue[] {
  if (typeof raw !== 'object' || raw === null) return [{ path: [], message: 'must be an object' }];
  const type = 'type' in raw ? raw.type : 'stdio';
  switch (type) {
    case 'stdio': {
      const parsed = stdioServer.safeParse(raw);
      if (!parsed.success) return parsed.error.issues;
      const { name, command, args, env } = parsed.data;
      return { name, config: { command, args, env, cwd } };
    }
    case 'http': {
      const parsed = httpServer.safeParse(raw);
      if (!parsed.success) return parsed.error.issues;
      const { name, url, headers } = parsed.data;
      return { name, config: { type: 'http', url, headers } };
    }
    default:
      return [{ path: ['type'], message: 'only stdio and http servers can be used' }];
  }
}
