import type { JsonObject } from '../json.js';
import type { ToolDefinition } from './tool-definition.js';

/** A tool as chat completions take it. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: JsonObject;
    readonly strict?: boolean;
  };
}

const cache = new WeakMap<ToolDefinition, OpenAiTool>();

/** The form that a provider gets; the effect stays here. The same definition gives the same object. */
export function toOpenAiTool(definition: ToolDefinition): OpenAiTool {
  const known = cache.get(definition);
  if (known !== undefined) return known;
  const { name, description, parameters, strict } = definition;
  const tool: OpenAiTool = Object.freeze({
    type: 'function',
    function: Object.freeze({
      name,
      ...(description === '' ? {} : { description }),
      ...(parameters === undefined ? {} : { parameters }),
      ...(strict === undefined ? {} : { strict }),
    }),
  });
  cache.set(definition, tool);
  return tool;
}
