import type {
  StepOutcome,
  ToolCallContext,
  ToolDefinition,
  ToolEffect,
  ToolMiddleware,
  ToolNext,
} from '@parley/harness';

/** Knows the effects of the tools that an agent has. */
export class ToolWatch implements ToolMiddleware {
  readonly #effects = new Map<string, ToolEffect>();

  start(tools: readonly ToolDefinition[]): void {
    for (const { name, effect } of tools) this.#effects.set(name, effect);
  }

  effectOf(toolName: string): ToolEffect | undefined {
    return this.#effects.get(toolName);
  }

  handle(context: ToolCallContext, next: ToolNext): Promise<StepOutcome> {
    this.#effects.set(context.tool.name, context.tool.effect);
    return next(context);
  }
}
