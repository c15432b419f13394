import { shownName } from './call-results.js';
import { normalizeToolDefinition } from './normalize-tool-definition.js';
import type { ToolDefinition } from './tool-definition.js';
import { ToolDefinitionError } from './tool-definition-error.js';
import type { ToolHandler } from './tool-handler.js';

export interface ToolRoute {
  readonly definition: ToolDefinition;
  readonly handler: ToolHandler;
}

/** Which handler has which tool, as they were when it was made. */
export class ToolCatalog {
  static readonly EMPTY = new ToolCatalog([]);

  readonly definitions: readonly ToolDefinition[];
  readonly #routes = new Map<string, ToolRoute>();
  readonly #sources: readonly (readonly ToolDefinition[])[];
  #names: string | undefined;

  /** @throws ToolDefinitionError for a tool that cannot be offered, or a name that is offered twice. */
  constructor(private readonly handlers: readonly ToolHandler[]) {
    this.#sources = handlers.map((handler) => handler.tools);
    this.#sources.forEach((tools, index) => {
      const handler = handlers[index];
      if (handler !== undefined) tools.forEach((tool) => this.#add(normalizeToolDefinition(tool), handler));
    });
    this.definitions = Object.freeze([...this.#routes.values()].map((route) => route.definition));
  }

  route(name: string): ToolRoute | undefined {
    return this.#routes.get(name);
  }

  /** True if a handler has replaced its list since. */
  get isStale(): boolean {
    return this.handlers.some((handler, index) => handler.tools !== this.#sources[index]);
  }

  /** What a model is told that called a tool which nobody offers. */
  unknownTool(name: string): string {
    this.#names ??= [...this.#routes.keys()].sort().join(', ');
    return `unknown tool '${shownName(name)}'; available tools: ${this.#names === '' ? 'none' : this.#names}`;
  }

  #add(definition: ToolDefinition, handler: ToolHandler): void {
    if (this.#routes.has(definition.name)) {
      throw new ToolDefinitionError('name', `tool "${definition.name}" is offered twice`);
    }
    this.#routes.set(definition.name, { definition, handler });
  }
}
