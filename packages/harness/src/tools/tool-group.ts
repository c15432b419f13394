import type { DefinedTool } from './define-tool.js';
import { ToolDefinitionError } from './tool-definition-error.js';
import type { ToolHandler } from './tool-handler.js';

/** What the tools of a group need around them. */
export type ToolGroupHooks = Pick<ToolHandler, 'start' | 'stop' | 'onTask'>;

/**
 * Groups tools into a handler. The first argument may be hooks: `toolHandler({ start, stop }, readFile, writeFile)`.
 *
 * @throws ToolDefinitionError if two have the same name.
 */
export function toolHandler(
  ...parts: readonly DefinedTool[] | readonly [ToolGroupHooks, ...(readonly DefinedTool[])]
): ToolHandler {
  const all: readonly (ToolGroupHooks | DefinedTool)[] = parts;
  const tools = all.filter(isTool);
  const hooks = all.find((part): part is ToolGroupHooks => !isTool(part)) ?? {};
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  if (byName.size < tools.length) throw new ToolDefinitionError('name', 'a tool name is used twice in one handler');
  return {
    ...hooksOf(hooks),
    tools: Object.freeze(tools.map((tool) => tool.definition)),
    call: async (context) => {
      const tool = byName.get(context.tool.name);
      if (tool === undefined) throw new ToolDefinitionError('name', `there is no tool "${context.tool.name}" here`);
      return await tool.run(context);
    },
  };
}

function isTool(part: ToolGroupHooks | DefinedTool): part is DefinedTool {
  return 'definition' in part;
}

/** Bound, so that hooks may be an object with a state of its own. */
function hooksOf(hooks: ToolGroupHooks): ToolGroupHooks {
  return {
    ...(hooks.start === undefined ? {} : { start: hooks.start.bind(hooks) }),
    ...(hooks.stop === undefined ? {} : { stop: hooks.stop.bind(hooks) }),
    ...(hooks.onTask === undefined ? {} : { onTask: hooks.onTask.bind(hooks) }),
  };
}
