import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import type { ToolEffect } from '../enums.js';
import { messageOf } from '../errors.js';
import { normalizeToolDefinition } from '../tools/normalize-tool-definition.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { TaskContext, ToolCallContext, ToolHandler } from '../tools/tool-handler.js';
import { withDeadline } from './deadline.js';
import type { McpConfig } from './mcp-config.js';
import { McpConfigError, McpServerLostError, McpTimeoutError } from './mcp-errors.js';
import { McpServerManager, type McpServerManagerOptions } from './mcp-server-manager.js';
import type { McpTool } from './tool-offers.js';
import { toolResultText } from './tool-result-text.js';

export interface McpToolHandlerOptions extends McpServerManagerOptions {
  /** By the names under which tools are offered (`service__tool`); goes before the configuration's `effects`. */
  readonly toolEffects?: Readonly<Record<string, ToolEffect>>;
  /** A longer result is cut, with a mark. Default 1,000,000. */
  readonly maxResultChars?: number;
}

/** How long a run waits for changes of tools that were announced before it. */
const CHANGE_WAIT_MS = 5_000;
const MAX_ERROR_CHARS = 4_000;
const DEFAULT_MAX_RESULT_CHARS = 1_000_000;
const UNKNOWN_OUTCOME = 'outcome unknown: the tool may have run';

/**
 * The tools of MCP servers, as `service__tool`. Servers are connected when the handler starts; one that cannot be
 * reached is left out with a warning, and so is a tool that no model could be offered. When a server announces that
 * its tools have changed, `tools` changes soon after; a run that begins later sees them.
 *
 * @example
 * ```ts
 * const agent = new Agent(model, { handlers: [new McpToolHandler('mcp.json')] });
 * ```
 */
export class McpToolHandler implements ToolHandler {
  readonly manager: McpServerManager;
  readonly #effects: Readonly<Record<string, ToolEffect>>;
  readonly #maxResultChars: number;
  #started = false;
  #offered: { readonly from: readonly McpTool[]; readonly tools: readonly ToolDefinition[] } = { from: [], tools: [] };

  /**
   * @param source path of a configuration file, what such a file holds, or a manager made elsewhere.
   * @throws McpConfigError for an object that is not valid.
   */
  constructor(source: string | McpConfig | McpServerManager, options: McpToolHandlerOptions = {}) {
    this.manager = source instanceof McpServerManager ? source : new McpServerManager(source, options);
    this.#effects = options.toolEffects ?? {};
    this.#maxResultChars = options.maxResultChars ?? DEFAULT_MAX_RESULT_CHARS;
  }

  get tools(): readonly ToolDefinition[] {
    const from = this.manager.tools;
    if (from !== this.#offered.from) this.#offered = { from, tools: from.map((tool) => this.#withEffect(tool)) };
    return this.#offered.tools;
  }

  /** @throws McpConfigError for the file, or for an effect of a tool that does not exist. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#started) return;
    await this.manager.start(signal);
    this.#started = true;
    const unknown = Object.keys(this.#effects).filter((name) => !this.#mayExist(name));
    if (unknown.length === 0) return;
    await this.stop();
    throw new McpConfigError(`effects of MCP tools that do not exist: ${unknown.sort().join(', ')}`);
  }

  async stop(): Promise<void> {
    if (!this.#started) return;
    this.#started = false;
    await this.manager.stop();
  }

  async onTask(task: TaskContext): Promise<void> {
    const deadline = { ms: CHANGE_WAIT_MS, error: () => new McpTimeoutError('any', CHANGE_WAIT_MS) };
    try {
      await withDeadline(task.signal, deadline, () => this.manager.settled());
    } catch {
      // A server that does not list its tools again keeps the ones that are known.
      task.signal.throwIfAborted();
    }
  }

  async call(context: ToolCallContext): Promise<unknown> {
    const { tool, signal, progress } = context;
    try {
      const result = await this.manager.call(tool.name, context.arguments, {
        signal,
        readOnly: tool.effect === 'read_only',
        onProgress: (update) => void progress.report(progressUpdate(update)),
      });
      const text = toolResultText(result, this.#maxResultChars);
      return result.isError === true ? failure(tool.name, text) : new StepOutcome(text);
    } catch (error) {
      signal.throwIfAborted();
      return failure(tool.name, failureText(error));
    }
  }

  #withEffect(tool: McpTool): ToolDefinition {
    const effect = this.#effects[tool.definition.name];
    return effect === undefined ? tool.definition : normalizeToolDefinition(tool.definition, { effect });
  }

  /** What a server that was left out would have offered is not known. */
  #mayExist(name: string): boolean {
    if (this.tools.some((tool) => tool.name === name)) return true;
    return this.manager.services.some(({ service, error }) => error !== undefined && name.startsWith(`${service}__`));
  }
}

function failure(tool: string, error: string): StepOutcome {
  return new StepOutcome({ status: 'error', tool, error }, { error });
}

function failureText(error: unknown): string {
  if (error instanceof McpServerLostError) {
    return error.delivery === 'none'
      ? `${error.message}; the tool did not run`
      : `${error.message}; ${UNKNOWN_OUTCOME}`;
  }
  const text = messageOf(error).slice(0, MAX_ERROR_CHARS);
  return error instanceof McpTimeoutError ? `${text}; ${UNKNOWN_OUTCOME}` : text;
}

function progressUpdate({ progress, total, message }: Progress): Parameters<ToolCallContext['progress']['report']>[0] {
  const fraction = total === undefined ? String(progress) : `${progress}/${total}`;
  return { message: message ?? fraction, data: total === undefined ? { progress } : { progress, total } };
}
