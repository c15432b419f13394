import type { ToolDefinition } from '../tools/tool-definition.js';
import type { TaskContext, ToolCallContext, ToolHandler } from '../tools/tool-handler.js';
import type { SubagentToolFilter } from './subagent-types.js';

export function filterAllows(filter: SubagentToolFilter, name: string): boolean {
  if (filter.include !== undefined && !filter.include.includes(name)) return false;
  return filter.exclude?.includes(name) !== true;
}

/** Allows what both allow. */
export function bothFilters(
  left: SubagentToolFilter | undefined,
  right: SubagentToolFilter | undefined,
): SubagentToolFilter | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const include = left.include?.filter((name) => right.include?.includes(name) !== false) ?? right.include;
  const exclude = [...(left.exclude ?? []), ...(right.exclude ?? [])];
  return { ...(include === undefined ? {} : { include }), ...(exclude.length === 0 ? {} : { exclude }) };
}

/** A handler of which only some tools can be seen and called. */
export class FilteredToolHandler implements ToolHandler {
  #from: readonly ToolDefinition[] | undefined;
  #tools: readonly ToolDefinition[] = [];

  constructor(
    private readonly inner: ToolHandler,
    private readonly filter: SubagentToolFilter,
  ) {}

  /** The same array as long as the handler's own is the same: that is how a change is noticed. */
  get tools(): readonly ToolDefinition[] {
    const from = this.inner.tools;
    if (from !== this.#from) {
      this.#from = from;
      this.#tools = from.filter((tool) => filterAllows(this.filter, tool.name));
    }
    return this.#tools;
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.inner.start?.(signal);
  }

  async stop(): Promise<void> {
    await this.inner.stop?.();
  }

  async onTask(task: TaskContext): Promise<void> {
    await this.inner.onTask?.(task);
  }

  async call(context: ToolCallContext): Promise<unknown> {
    if (!filterAllows(this.filter, context.tool.name)) throw new Error('this agent may not use the tool');
    return this.inner.call(context);
  }
}

/**
 * The tools of a handler that somebody else starts and stops, such as those of a parent whose children share them: a
 * child that ends would otherwise stop them for everybody.
 */
export function borrowHandler(handler: ToolHandler): ToolHandler {
  return {
    get tools() {
      return handler.tools;
    },
    call: (context) => handler.call(context),
  };
}
