import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { JsonObject } from '../json.js';
import type { HarnessLogger } from '../logger.js';
import { LONGEST_WAIT_MS } from './deadline.js';
import { type HttpServerTransport } from './http-server-transport.js';
import { StdioServerTransport } from './stdio-server-transport.js';
import { listTools, type ListedTool, type ListingBounds } from './tool-listing.js';
import { toolResultSchema, type McpToolResult } from './tool-result-text.js';

export type McpTransport = StdioServerTransport | HttpServerTransport;

const CLIENT_INFO = { name: 'parley-harness', version: '0.1.0' };

/** Results go to a model as they are; compiling a server's schemas would only add a way to fail. */
const acceptAll: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

export interface LinkListener {
  onToolsChanged(link: McpLink): void;
  /** The connection ended without having been closed or retired. */
  onLost(link: McpLink): void;
  /** A retired connection has no more calls. */
  onIdle(link: McpLink): void;
}

/** One connection to a server, from its handshake to its end. It is never used again after that. */
export class McpLink {
  readonly #client = new Client(CLIENT_INFO, { capabilities: {}, jsonSchemaValidator: acceptAll });
  #open = false;
  #retired = false;
  #inFlight = 0;

  constructor(
    private readonly service: string,
    private readonly transport: McpTransport,
    private readonly listener: LinkListener,
  ) {
    // Reported failures of single messages need no word: what matters comes back as a rejection or as the end.
    this.#client.onerror = () => undefined;
    this.#client.onclose = () => this.#ended();
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.listener.onToolsChanged(this));
  }

  /** False after the connection was lost, closed or retired. */
  get usable(): boolean {
    return this.#open && !this.#retired;
  }

  /** Why a server on standard streams ended and what it wrote last; empty for others. */
  get lastWords(): { readonly exit: string; readonly stderr: string } {
    if (!(this.transport instanceof StdioServerTransport)) return { exit: '', stderr: '' };
    return { exit: this.transport.exit, stderr: this.transport.stderrTail };
  }

  /** @throws what the handshake failed with; call `close` then. */
  async open(signal: AbortSignal): Promise<void> {
    await this.#client.connect(this.transport, { signal, timeout: LONGEST_WAIT_MS });
    this.#open = true;
  }

  async list(bounds: ListingBounds, logger: HarnessLogger, signal: AbortSignal): Promise<ListedTool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    return listTools(this.#client, this.service, bounds, logger, { signal, timeout: LONGEST_WAIT_MS });
  }

  async call(
    tool: string,
    args: JsonObject,
    signal: AbortSignal,
    onProgress: ((progress: Progress) => void) | undefined,
  ): Promise<McpToolResult> {
    this.#inFlight += 1;
    try {
      return await this.#client.request(
        { method: 'tools/call', params: { name: tool, arguments: args } },
        toolResultSchema,
        { signal, timeout: LONGEST_WAIT_MS, ...(onProgress === undefined ? {} : { onprogress: onProgress }) },
      );
    } finally {
      this.#inFlight -= 1;
      if (this.#retired && this.#inFlight === 0) this.listener.onIdle(this);
    }
  }

  /** Takes no more calls and ends when those that run have their answers: one refused call must not end the others. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#inFlight === 0) this.listener.onIdle(this);
  }

  /** Resolves when nothing of the connection is left. Idempotent; never rejects. */
  async close(): Promise<void> {
    this.#open = false;
    await this.transport.close();
  }

  #ended(): void {
    if (!this.#open) return;
    this.#open = false;
    if (!this.#retired) this.listener.onLost(this);
  }
}
