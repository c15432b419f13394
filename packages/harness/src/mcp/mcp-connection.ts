import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.js';
import type { JsonObject } from '../json.js';
import type { HarnessLogger } from '../logger.js';
import { deliveryAfterLoss } from './connection-loss.js';
import { untilAborted } from '../tools/until-aborted.js';
import { withDeadline } from './deadline.js';
import { McpServerLostError, McpTimeoutError } from './mcp-errors.js';
import { McpLink, type LinkListener, type McpTransport } from './mcp-link.js';
import { redact } from './redact.js';
import type { ListedTool, ListingBounds } from './tool-listing.js';
import type { McpToolResult } from './tool-result-text.js';

/** How a lost server is tried again. */
export interface McpReconnectPolicy {
  /** Tries in one reconnect. Default 3. */
  readonly attempts: number;
  /** Before the second try, in milliseconds; doubled before each further one. Default 200. */
  readonly initialDelayMs: number;
  /** After a reconnect that failed, calls fail at once for this long, in milliseconds; doubled each time. Default 1,000. */
  readonly coolDownMs: number;
  /** The longest of these waits, in milliseconds. Default 30,000. */
  readonly maxCoolDownMs: number;
}

export interface McpConnectionOptions {
  readonly service: string;
  readonly connectTimeoutMs: number;
  readonly createTransport: () => McpTransport;
  readonly bounds: ListingBounds;
  readonly reconnect: McpReconnectPolicy;
  /** Values that no log may show. */
  readonly secrets: readonly string[];
  readonly logger: HarnessLogger;
  readonly now: () => number;
  readonly random: () => number;
  readonly onTools: () => void;
}

export interface McpCallOptions {
  readonly signal: AbortSignal;
  /** In milliseconds, a reconnect included. */
  readonly timeoutMs: number;
  /** A read-only call may be made again where it was turned away, though nobody knows by whom. */
  readonly readOnly: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

const REFRESH_PAUSE_MS = 100;

/** A server and the connection to it, which is made again when it was lost. */
export class McpConnection implements LinkListener {
  readonly #stop = new AbortController();
  readonly #links = new Set<McpLink>();
  #link: McpLink | undefined;
  #reconnecting: Promise<McpLink> | undefined;
  #refreshing: Promise<void> | undefined;
  #stale = false;
  #failures = 0;
  #retryAt = 0;
  #tools: readonly ListedTool[] = [];

  constructor(private readonly options: McpConnectionOptions) {}

  get service(): string {
    return this.options.service;
  }

  get tools(): readonly ListedTool[] {
    return this.#tools;
  }

  get connected(): boolean {
    return this.#link?.usable === true;
  }

  /** @throws McpServerLostError with everything cleaned up, or the signal's reason. */
  async start(signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#stop.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      await this.#openLink();
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Resolves when nothing of the server is left. Never rejects. */
  async stop(): Promise<void> {
    this.#stop.abort(new McpServerLostError(this.service, 'none', `MCP server "${this.service}" was stopped`));
    await Promise.all([...this.#links].map((link) => link.close()));
    await Promise.allSettled([this.#reconnecting, this.#refreshing]);
  }

  /** Resolves when the list of tools holds every change that was announced. Never rejects. */
  async settled(): Promise<void> {
    await this.#refreshing;
  }

  /**
   * @throws McpServerLostError, McpTimeoutError, the signal's reason, or what the server answered with.
   */
  async call(tool: string, args: JsonObject, options: McpCallOptions): Promise<McpToolResult> {
    const deadline = { ms: options.timeoutMs, error: () => new McpTimeoutError(this.service, options.timeoutMs) };
    return withDeadline(options.signal, deadline, (signal) => this.#call(tool, args, options, signal));
  }

  onToolsChanged(link: McpLink): void {
    if (link !== this.#link) return;
    this.#stale = true;
    this.#refreshing ??= this.#refresh(link).finally(() => (this.#refreshing = undefined));
  }

  onLost(link: McpLink): void {
    this.#warn('an MCP server was lost', link, undefined);
    void this.#discard(link);
  }

  onIdle(link: McpLink): void {
    void this.#discard(link);
  }

  async #call(tool: string, args: JsonObject, options: McpCallOptions, signal: AbortSignal): Promise<McpToolResult> {
    const current = this.#link;
    const mayReconnect = current?.usable === true;
    const link = mayReconnect ? current : await untilAborted(this.#reconnect(), signal);
    const first = await this.#attempt(link, tool, args, options, signal);
    if (!(first instanceof McpServerLostError)) return first;
    const mayRepeat = first.delivery === 'none' || (first.delivery === 'unavailable' && options.readOnly);
    if (!mayReconnect || !mayRepeat) {
      // The next call finds the server again; this one does not wait for it.
      if (mayReconnect) this.#reconnect().catch(() => undefined);
      throw first;
    }
    const second = await this.#attempt(await untilAborted(this.#reconnect(), signal), tool, args, options, signal);
    if (second instanceof McpServerLostError) throw second;
    return second;
  }

  /** Gives the loss of the connection back, and throws everything else. */
  async #attempt(
    link: McpLink,
    tool: string,
    args: JsonObject,
    options: McpCallOptions,
    signal: AbortSignal,
  ): Promise<McpToolResult | McpServerLostError> {
    try {
      return await link.call(tool, args, signal, options.onProgress);
    } catch (error) {
      signal.throwIfAborted();
      const delivery = deliveryAfterLoss(error);
      if (delivery === undefined) throw error;
      link.retire();
      return this.#lostError(delivery, link, error);
    }
  }

  /** One for all calls that need it at the same time. */
  #reconnect(): Promise<McpLink> {
    const link = this.#link;
    if (link?.usable === true) return Promise.resolve(link);
    this.#reconnecting ??= this.#tryAgain().finally(() => (this.#reconnecting = undefined));
    return this.#reconnecting;
  }

  async #tryAgain(): Promise<McpLink> {
    this.#stop.signal.throwIfAborted();
    const waitMs = this.#retryAt - this.options.now();
    if (waitMs > 0) throw this.#lostError('none', undefined, new Error('it is not tried again yet'));
    const { attempts, initialDelayMs, coolDownMs, maxCoolDownMs } = this.options.reconnect;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const link = await this.#openLink();
        this.#failures = 0;
        return link;
      } catch (error) {
        this.#stop.signal.throwIfAborted();
        if (attempt >= attempts) {
          this.#retryAt = this.options.now() + Math.min(coolDownMs * 2 ** this.#failures, maxCoolDownMs);
          this.#failures += 1;
          throw error;
        }
      }
      const pause = Math.min(initialDelayMs * 2 ** (attempt - 1), maxCoolDownMs);
      await delay(pause * (0.5 + this.options.random() / 2), undefined, { signal: this.#stop.signal });
    }
  }

  /** @throws McpServerLostError with everything cleaned up. */
  async #openLink(): Promise<McpLink> {
    const { service, connectTimeoutMs, bounds, logger } = this.options;
    const link = new McpLink(service, this.options.createTransport(), this);
    this.#links.add(link);
    const deadline = { ms: connectTimeoutMs, error: () => new McpTimeoutError(service, connectTimeoutMs) };
    try {
      const tools = await withDeadline(this.#stop.signal, deadline, async (signal) => {
        await link.open(signal);
        return link.list(bounds, logger, signal);
      });
      this.#link = link;
      this.#setTools(tools);
      return link;
    } catch (error) {
      const reason = this.#lostError('none', link, error);
      await this.#discard(link);
      this.#stop.signal.throwIfAborted();
      this.#warn('an MCP server cannot be reached', link, reason);
      throw reason;
    }
  }

  async #discard(link: McpLink): Promise<void> {
    await link.close();
    this.#links.delete(link);
  }

  async #refresh(link: McpLink): Promise<void> {
    const { service, connectTimeoutMs, bounds, logger } = this.options;
    const deadline = { ms: connectTimeoutMs, error: () => new McpTimeoutError(service, connectTimeoutMs) };
    try {
      while (this.#stale) {
        this.#stale = false;
        this.#setTools(await withDeadline(this.#stop.signal, deadline, (signal) => link.list(bounds, logger, signal)));
        // A server that announces a change for each question must not be asked without a pause.
        if (this.#isStale()) await delay(REFRESH_PAUSE_MS, undefined, { signal: this.#stop.signal });
      }
    } catch (error) {
      this.#stale = false;
      if (!this.#stop.signal.aborted && link.usable)
        this.#warn('the tools of an MCP server cannot be listed', link, error);
    }
  }

  /** A notification may have come while the list was awaited, which the compiler does not see. */
  #isStale(): boolean {
    return this.#stale;
  }

  #setTools(tools: readonly ListedTool[]): void {
    this.#tools = tools;
    this.options.onTools();
  }

  #lostError(
    delivery: 'none' | 'unavailable' | 'unknown',
    link: McpLink | undefined,
    cause: unknown,
  ): McpServerLostError {
    const exit = link?.lastWords.exit ?? '';
    const reason = redact([messageOf(cause), exit].filter((part) => part !== '').join(', '), this.options.secrets);
    return new McpServerLostError(this.service, delivery, `MCP server "${this.service}" is not available: ${reason}`, {
      cause,
    });
  }

  #warn(message: string, link: McpLink, error: unknown): void {
    const { exit, stderr } = link.lastWords;
    this.options.logger.warn(message, {
      service: this.service,
      ...(error === undefined ? {} : { reason: redact(messageOf(error), this.options.secrets) }),
      ...(exit === '' ? {} : { exit }),
      ...(stderr === '' ? {} : { stderr: redact(stderr, this.options.secrets) }),
    });
  }
}
