import type { ToolEffect } from '../enums.js';
import { messageOf } from '../errors.js';
import type { HarnessLogger } from '../logger.js';
import { normalizeToolDefinition } from '../tools/normalize-tool-definition.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { SchemaCompiler } from '../validation/schema-compiler.js';
import type { McpServerConfig } from './mcp-config.js';
import type { ListedTool } from './tool-listing.js';
import { ToolNames } from './tool-names.js';

/** A tool of a server, as it is offered. */
export interface McpTool {
  readonly service: string;
  /** Its name at the server. */
  readonly serverTool: string;
  readonly definition: ToolDefinition;
}

interface Offer {
  readonly fingerprint: string;
  /** Undefined if it cannot be offered. */
  readonly tool: McpTool | undefined;
}

/** Makes tools of servers into tools for models. What has not changed keeps its definition, the very same object. */
export class ToolOffers {
  readonly #names = new ToolNames();
  #offers = new Map<string, Offer>();

  constructor(private readonly logger: HarnessLogger) {}

  /** The tools of a service that its configuration wants and that can be offered. */
  of(service: string, config: McpServerConfig, listed: readonly ListedTool[]): McpTool[] {
    // A compiler keeps what it has compiled, so it does not outlive the list.
    const compiler = new SchemaCompiler();
    return listed
      .filter((tool) => isWanted(tool, config))
      .map((tool) => this.#offer(service, config, tool, compiler))
      .filter((tool) => tool !== undefined);
  }

  #offer(service: string, config: McpServerConfig, tool: ListedTool, compiler: SchemaCompiler): McpTool | undefined {
    const name = this.#names.nameOf(service, tool.name);
    const fingerprint = JSON.stringify(tool);
    const known = this.#offers.get(name);
    if (known?.fingerprint === fingerprint) return known.tool;
    const definition = this.#definition(service, config, tool, name, compiler);
    const offered = definition === undefined ? undefined : { service, serverTool: tool.name, definition };
    this.#offers.set(name, { fingerprint, tool: offered });
    return offered;
  }

  /** A checker of arguments refuses to start with a broken schema: such a tool is found here and left out alone. */
  #definition(
    service: string,
    config: McpServerConfig,
    tool: ListedTool,
    name: string,
    compiler: SchemaCompiler,
  ): ToolDefinition | undefined {
    const { description, inputSchema } = tool;
    try {
      compiler.compile(name, inputSchema);
      return normalizeToolDefinition({ name, description, parameters: inputSchema, effect: effectOf(tool, config) });
    } catch (error) {
      const reason = messageOf(error).slice(0, 500);
      this.logger.warn('a tool of an MCP server is left out', { service, tool: tool.name, reason });
      return undefined;
    }
  }
}

function isWanted(tool: ListedTool, config: McpServerConfig): boolean {
  if (config.include !== undefined && !config.include.includes(tool.name)) return false;
  return config.exclude?.includes(tool.name) !== true;
}

function effectOf(tool: ListedTool, config: McpServerConfig): ToolEffect {
  const configured = config.effects?.[tool.name];
  if (configured !== undefined) return configured;
  return config.trustAnnotations === true && tool.readOnlyHint ? 'read_only' : 'side_effecting';
}
