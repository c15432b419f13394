import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../errors.js';
import type { JsonObject } from '../json.js';
import { quietLogger, type HarnessLogger } from '../logger.js';
import { loadConnectionParts, type ConnectionParts } from './connection-parts.js';
import { loadMcpConfig, parseMcpConfig, type McpConfig, type McpServerConfig } from './mcp-config.js';
import type { McpConnection, McpReconnectPolicy } from './mcp-connection.js';
import { McpConfigError } from './mcp-errors.js';
import { ToolOffers, type McpTool } from './tool-offers.js';
import type { McpToolResult } from './tool-result-text.js';

export interface McpServerManagerOptions {
  readonly logger?: HarnessLogger;
  /** Pages of one list of tools. Default 100. */
  readonly maxPages?: number;
  /** Tools of one server. Default 1,000. */
  readonly maxTools?: number;
  /** What a server gets to end by itself, and again after SIGTERM, in milliseconds. Default 2,000. */
  readonly stopGraceMs?: number;
  readonly reconnect?: Partial<McpReconnectPolicy>;
  /** For servers over HTTP. Default the runtime's own, which gives up on an answer silent for five minutes. */
  readonly fetch?: FetchLike;
  /** What a few harmless variables are taken from. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds that only grow. */
  readonly now?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
}

export interface McpServiceStatus {
  readonly service: string;
  readonly connected: boolean;
  readonly tools: number;
  /** Why it was left out at the start. */
  readonly error?: string;
}

export interface McpManagerCallOptions {
  readonly signal: AbortSignal;
  /** The call may be made again where it was turned away by something between here and its server. Default false. */
  readonly readOnly?: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

interface Service {
  readonly config: McpServerConfig;
  readonly connection: McpConnection;
}

const DEFAULT_CALL_TIMEOUT_MS = 120_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
const DEFAULT_STOP_GRACE_MS = 2_000;
const RECONNECT: McpReconnectPolicy = { attempts: 3, initialDelayMs: 200, coolDownMs: 1_000, maxCoolDownMs: 30_000 };

/** Owns the connections to the configured servers, and knows which tool is whose. */
export class McpServerManager {
  readonly #offers: ToolOffers;
  readonly #logger: HarnessLogger;
  #services = new Map<string, Service>();
  #errors = new Map<string, string>();
  #order: readonly string[] = [];
  #routes = new Map<string, McpTool>();
  #tools: readonly McpTool[] = [];
  #started = false;
  #users = 0;
  #starting: Promise<void> | undefined;

  /**
   * @param source path of a configuration file, or what such a file holds.
   * @throws McpConfigError for an object that is not valid; a file is read when the manager starts.
   */
  constructor(
    private readonly source: string | McpConfig,
    private readonly options: McpServerManagerOptions = {},
  ) {
    if (typeof source !== 'string') parseMcpConfig(source);
    this.#logger = options.logger ?? quietLogger;
    this.#offers = new ToolOffers(this.#logger);
  }

  /** By server in the order of the configuration. A new array when a server changed its list. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  get services(): readonly McpServiceStatus[] {
    return this.#order.map((service) => {
      const error = this.#errors.get(service);
      return {
        service,
        connected: this.#services.get(service)?.connection.connected ?? false,
        tools: this.#tools.filter((tool) => tool.service === service).length,
        ...(error === undefined ? {} : { error }),
      };
    });
  }

  /**
   * Connects to all servers at the same time. One that cannot be reached is left out with a warning. Several agents may
   * share a manager: the first start connects, and each start needs its own `stop`.
   *
   * @throws McpConfigError for the file, or for an effect of a tool that its server lacks; the signal's reason.
   */
  async start(signal: AbortSignal): Promise<void> {
    this.#users += 1;
    this.#starting ??= this.#startAll(signal);
    try {
      await this.#starting;
    } catch (error) {
      this.#users -= 1;
      this.#starting = undefined;
      throw error;
    }
  }

  /** The last one that stops ends all: it resolves when no process and no connection is left. Never rejects. */
  async stop(): Promise<void> {
    if (this.#users === 0) return;
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#starting = undefined;
    await this.#stopAll();
  }

  /** Resolves when `tools` holds every change that a server has announced. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all([...this.#services.values()].map(({ connection }) => connection.settled()));
  }

  /**
   * @throws McpServerLostError, McpTimeoutError, the signal's reason, or what the server answered with.
   */
  async call(name: string, args: JsonObject, options: McpManagerCallOptions): Promise<McpToolResult> {
    const route = this.#routes.get(name);
    const service = route === undefined ? undefined : this.#services.get(route.service);
    if (route === undefined || service === undefined) throw new Error(`unknown MCP tool ${JSON.stringify(name)}`);
    return service.connection.call(route.serverTool, args, {
      ...options,
      timeoutMs: service.config.timeoutMs ?? DEFAULT_CALL_TIMEOUT_MS,
      readOnly: options.readOnly ?? false,
    });
  }

  async #startAll(signal: AbortSignal): Promise<void> {
    const [{ mcpServers }, parts] = await Promise.all([this.#config(), loadConnectionParts()]);
    const wanted = Object.entries(mcpServers).filter(([, config]) => config.disabled !== true);
    this.#order = wanted.map(([service]) => service);
    this.#errors = new Map();
    await Promise.all(
      wanted.map(([service, config]) => this.#startService(this.#connection(service, config, parts), config, signal)),
    );
    try {
      signal.throwIfAborted();
      this.#checkEffects();
    } catch (error) {
      await this.#stopAll();
      throw error;
    }
    this.#started = true;
    this.#rebuild();
  }

  async #stopAll(): Promise<void> {
    this.#started = false;
    const services = [...this.#services.values()];
    await Promise.all(services.map(({ connection }) => connection.stop()));
    this.#services = new Map();
    this.#tools = [];
    this.#routes = new Map();
  }

  async #config(): Promise<McpConfig> {
    return typeof this.source === 'string' ? loadMcpConfig(this.source) : parseMcpConfig(this.source);
  }

  async #startService(connection: McpConnection, config: McpServerConfig, signal: AbortSignal): Promise<void> {
    const { service } = connection;
    this.#services.set(service, { config, connection });
    try {
      await connection.start(signal);
    } catch (error) {
      await connection.stop();
      this.#services.delete(service);
      this.#errors.set(service, messageOf(error));
    }
  }

  #connection(service: string, config: McpServerConfig, parts: ConnectionParts): McpConnection {
    const { options } = this;
    const transportOptions = {
      env: options.env ?? process.env,
      stopGraceMs: options.stopGraceMs ?? DEFAULT_STOP_GRACE_MS,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    };
    return new parts.McpConnection({
      service,
      connectTimeoutMs: config.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      createTransport: () => parts.createTransport(config, transportOptions),
      bounds: { maxPages: options.maxPages ?? 100, maxTools: options.maxTools ?? 1_000 },
      reconnect: { ...RECONNECT, ...options.reconnect },
      secrets: parts.secretsOf(config),
      logger: this.#logger,
      now: options.now ?? (() => performance.now()),
      random: options.random ?? Math.random,
      onTools: () => this.#rebuild(),
    });
  }

  #checkEffects(): void {
    const unknown: string[] = [];
    for (const [service, { config, connection }] of this.#services) {
      const known = new Set(connection.tools.map((tool) => tool.name));
      for (const name of Object.keys(config.effects ?? {})) {
        if (!known.has(name)) unknown.push(`mcpServers.${service}.effects.${name}`);
      }
    }
    if (unknown.length > 0) throw new McpConfigError(`effects of tools that do not exist: ${unknown.join(', ')}`);
  }

  #rebuild(): void {
    // Names are given out in the order of the configuration, not in that in which servers answer.
    if (!this.#started) return;
    const tools = this.#order.flatMap((name) => {
      const service = this.#services.get(name);
      return service === undefined ? [] : this.#offers.of(name, service.config, service.connection.tools);
    });
    if (isSameList(tools, this.#tools)) return;
    this.#tools = tools;
    // Routes of tools that are gone stay: a run that knows them gets the server's own answer.
    for (const tool of tools) this.#routes.set(tool.definition.name, tool);
  }
}

function isSameList(left: readonly McpTool[], right: readonly McpTool[]): boolean {
  return left.length === right.length && left.every((tool, index) => tool === right[index]);
}
