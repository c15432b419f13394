import type { Logger } from '@parley/service-kit';
import type { EnvServer } from '../domain/facts.js';
import type { ToolCaller, TurnTools } from './action-types.js';
import { createConnector, type Connector } from './http-exchange.js';
import type { ClientInfo } from './mcp-session.js';
import { McpTurnTools } from './turn-tools.js';

export interface ToolCallerOptions {
  /** Of one answer, an event stream's included; default 32 MiB. Beyond it the call is a tool error. */
  readonly maxResponseBytes?: number;
  /** For saying goodbye to a server; default 5,000. */
  readonly closeTimeoutMs?: number;
  /** For the listing of all servers together; default 600,000. */
  readonly listTimeoutMs?: number;
  /** Default `agentenv-protocol` `1.0`, which env servers of the framework know. */
  readonly clientInfo?: ClientInfo;
  readonly logger?: Logger;
  /** Default: TCP and TLS as the system resolves names. */
  readonly connector?: Connector;
}

/**
 * Calls the tools of env servers over MCP (Streamable HTTP). Env servers are chosen by whoever may configure the proxy:
 * any address is allowed, loopback too. Proxies of the environment (`HTTP_PROXY`, `NODE_USE_ENV_PROXY`) are not used.
 */
export function createToolCaller(options: ToolCallerOptions = {}): ToolCaller {
  const open = new Set<TurnTools>();
  const sessionOptions = {
    connector: options.connector ?? createConnector(),
    maxResponseBytes: options.maxResponseBytes ?? 32 * 1024 * 1024,
    closeTimeoutMs: options.closeTimeoutMs ?? 5_000,
    listTimeoutMs: options.listTimeoutMs ?? 600_000,
    clientInfo: options.clientInfo ?? { name: 'agentenv-protocol', version: '1.0' },
    logger: options.logger,
  };
  return {
    openTurn(servers: readonly EnvServer[], { hasShell }) {
      const turn: TurnTools = new McpTurnTools(servers, {
        ...sessionOptions,
        hasShell,
        onClosed: () => open.delete(turn),
      });
      open.add(turn);
      return turn;
    },
    async close() {
      await Promise.all([...open].map((turn) => turn.close()));
    },
  };
}
