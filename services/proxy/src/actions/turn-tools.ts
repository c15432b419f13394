import { type Logger, withSignal } from '@parley/service-kit';
import { Refusal, type EnvServer, type JsonObject, type OfferedTool, type ToolResult } from '../domain/facts.js';
import { quote } from '../domain/python-repr.js';
import type { TurnTools } from './action-types.js';
import type { ListedTool } from './mcp-answers.js';
import { DeadlineError, McpError, messageOf, sessionError, SessionLostError, turnOver } from './mcp-errors.js';
import type { McpSession, McpSessionOptions } from './mcp-session.js';
import { offeredTools } from './offered-tools.js';
import { secondsText } from './seconds-text.js';
import { SharedSession, within } from './shared-session.js';

export interface TurnToolsOptions extends McpSessionOptions {
  readonly listTimeoutMs: number;
  readonly hasShell: boolean;
  readonly logger: Logger | undefined;
  readonly onClosed: () => void;
}

type Call = Parameters<TurnTools['call']>[0];

export class McpTurnTools implements TurnTools {
  readonly #servers: readonly EnvServer[];
  readonly #options: TurnToolsOptions;
  readonly #sessions: ReadonlyMap<string, SharedSession>;
  readonly #turn = new AbortController();
  #listing: Promise<readonly OfferedTool[]> | undefined;
  #closing: Promise<void> | undefined;

  constructor(servers: readonly EnvServer[], options: TurnToolsOptions) {
    this.#servers = servers;
    this.#options = options;
    this.#sessions = new Map(servers.map((server) => [server.name, new SharedSession(server, options)]));
  }

  /** A listing goes on without those who asked for it, for whoever asks next. */
  async list(signal: AbortSignal): Promise<readonly OfferedTool[]> {
    signal.throwIfAborted();
    if (this.#listing === undefined) {
      const listing = this.#listAll();
      this.#listing = listing;
      listing.catch(() => {
        if (this.#listing === listing) this.#listing = undefined;
      });
    }
    return await withSignal(this.#listing, signal);
  }

  async call(call: Call): Promise<{ readonly result: ToolResult; readonly attributes: JsonObject }> {
    let session: McpSession | undefined;
    try {
      const result = await within([this.#turn.signal, call.signal], call.timeoutMs, async (signal) => {
        const shared = this.#sessions.get(call.server);
        if (shared === undefined) throw sessionError(`no env server ${quote(call.server)} is registered`);
        session = await shared.get(signal);
        return await this.#using(shared, session, (held) => held.callTool(call.name, call.arguments, signal));
      });
      return { result, attributes: session?.attributes ?? {} };
    } catch (error) {
      return { result: toolError(this.#reason(error, call)), attributes: session?.attributes ?? {} };
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#turn.abort(turnOver());
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    this.#options.onClosed();
  }

  /** The servers are asked at the same time; the first failure ends it. */
  async #listAll(): Promise<readonly OfferedTool[]> {
    const failed = new AbortController();
    const sources = [this.#turn.signal, failed.signal];
    try {
      const listed = await within(sources, this.#options.listTimeoutMs, (signal) =>
        Promise.all(
          this.#servers.map(async (server) => ({ server: server.name, tools: await this.#listOf(server, signal) })),
        ),
      );
      return offeredTools(listed, this.#options.hasShell);
    } finally {
      failed.abort(sessionError('the listing failed'));
    }
  }

  async #listOf(server: EnvServer, signal: AbortSignal): Promise<readonly ListedTool[]> {
    try {
      const shared = this.#sessions.get(server.name);
      if (shared === undefined) throw sessionError(`no env server ${quote(server.name)} is registered`);
      const session = await shared.get(signal);
      return await this.#using(shared, session, (held) => held.listTools(signal));
    } catch (error) {
      const why = this.#listingReason(server.name, error);
      if (error instanceof DeadlineError || !signal.aborted)
        this.#options.logger?.warn('an env server did not list its tools', { server: server.name, why });
      throw new Refusal(502, why);
    }
  }

  /** A session that the server no longer knows is left to nobody else. */
  async #using<T>(shared: SharedSession, session: McpSession, work: (session: McpSession) => Promise<T>): Promise<T> {
    try {
      return await work(session);
    } catch (error) {
      if (error instanceof SessionLostError) {
        shared.drop(session);
        this.#options.logger?.warn('an env server no longer knows its session', {
          address: session.attributes['server.address'],
        });
      }
      throw error;
    }
  }

  #listingReason(server: string, error: unknown): string {
    if (!(error instanceof DeadlineError)) return `env server ${quote(server)}: ${messageOf(error)}`;
    return `env server ${quote(server)} didn't list its tools within ${secondsText(this.#options.listTimeoutMs)}`;
  }

  #reason(error: unknown, call: Call): string {
    if (error instanceof DeadlineError) return `the tool call timed out after ${secondsText(call.timeoutMs)}`;
    if (error instanceof McpError) return `${error.kind}: ${error.message}`;
    if (call.signal.aborted) return 'the tool call was cancelled';
    return `ToolSessionError: ${messageOf(error)}`;
  }
}

function toolError(why: string): ToolResult {
  return { kind: 'tool', content: [{ type: 'text', text: `error: ${why}`.toWellFormed() }], isError: true };
}
