import type { EnvServer, JsonObject, ToolResult } from '../domain/facts.js';
import type { ToolCaller, TurnTools } from './action-types.js';
import { createToolCaller, type ToolCallerOptions } from './create-tool-caller.js';
import { silentServer, TestEnvServer } from './env-server.test-helper.js';

export interface Called {
  readonly result: ToolResult;
  readonly attributes: JsonObject;
  readonly text: string;
  readonly ms: number;
}

/** Servers and turns of one test; `end` closes all of them. */
export class ToolStage {
  readonly #ends: (() => Promise<void>)[] = [];

  async server(name?: string): Promise<TestEnvServer> {
    const server = await TestEnvServer.start(name);
    this.#ends.push(() => server.stop());
    return server;
  }

  async silent(name = 'silent'): Promise<EnvServer> {
    const { url, stop } = await silentServer();
    this.#ends.push(stop);
    return { name, url, headers: {} };
  }

  caller(options: ToolCallerOptions = {}): ToolCaller {
    const caller = createToolCaller({ closeTimeoutMs: 300, ...options });
    this.#ends.unshift(() => caller.close());
    return caller;
  }

  turn(servers: readonly EnvServer[], options: ToolCallerOptions & { readonly hasShell?: boolean } = {}): TurnTools {
    const { hasShell = false, ...rest } = options;
    return this.caller(rest).openTurn(servers, { hasShell });
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }
}

export const never = new AbortController().signal;

export async function call(
  turn: TurnTools,
  args: JsonObject = {},
  options: {
    readonly server?: string;
    readonly name?: string;
    readonly timeoutMs?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Called> {
  const { server = 'calc', name = 'echo', timeoutMs = 20_000, signal = never } = options;
  const startedAt = performance.now();
  const { result, attributes } = await turn.call({ server, name, arguments: args, timeoutMs, signal });
  const text = result.content.map((block) => (block as { readonly text?: string }).text ?? '').join('\n');
  return { result, attributes, text, ms: performance.now() - startedAt };
}
