import type { AnyMessage } from '@agentclientprotocol/sdk';
import { isFields } from './json-rpc.js';

const MASK = '[redacted]';

/** A message without the values of variables and headers that MCP servers are to be started with. */
export function withoutServerSecrets(message: AnyMessage): AnyMessage {
  if (!('params' in message) || !isFields(message.params) || !Array.isArray(message.params['mcpServers'])) {
    return message;
  }
  const servers: readonly unknown[] = message.params['mcpServers'];
  return { ...message, params: { ...message.params, mcpServers: servers.map(withoutValues) } };
}

function withoutValues(server: unknown): unknown {
  if (!isFields(server)) return server;
  return { ...server, ...masked(server, 'env'), ...masked(server, 'headers') };
}

function masked(server: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  const entries = server[name];
  if (!Array.isArray(entries)) return {};
  return { [name]: entries.map((entry: unknown) => (isFields(entry) ? { ...entry, value: MASK } : MASK)) };
}
