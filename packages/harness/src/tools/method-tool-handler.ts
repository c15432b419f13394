import type { JsonObject } from '../json.js';
import { normalizeToolDefinition } from './normalize-tool-definition.js';
import type { ToolDefinition } from './tool-definition.js';
import { ToolDefinitionError } from './tool-definition-error.js';
import type { ToolCallContext, ToolHandler } from './tool-handler.js';

type ToolMethod = (args: JsonObject, context: ToolCallContext) => unknown;

/**
 * A handler whose tools are its methods: tool `add` is `doAdd(args, context)`, `read_file` is `doReadFile`. Methods may
 * be async; a StepOutcome is taken as it is, anything else as data.
 *
 * ```ts
 * class MathHandler extends MethodToolHandler {
 *   constructor() {
 *     super([{ name: 'add', description: 'Adds two numbers.', effect: 'read_only' }]);
 *   }
 *
 *   doAdd({ left, right }: JsonObject): number {
 *     return Number(left) + Number(right);
 *   }
 * }
 * ```
 */
export abstract class MethodToolHandler implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  readonly #methods = new Map<string, ToolMethod>();

  /**
   * @param tools Definitions, or dictionaries of OpenAI function calling.
   * @throws ToolDefinitionError for a wrong definition, for a tool without a method, and for two with the same. Methods
   * are looked for in the class: a function in a field of the instance comes too late.
   */
  constructor(tools: readonly unknown[]) {
    this.tools = Object.freeze(tools.map((tool) => normalizeToolDefinition(tool)));
    const taken = new Map<string, string>();
    for (const { name } of this.tools) {
      const method = methodName(name);
      const other = taken.get(method);
      if (other !== undefined) {
        throw new ToolDefinitionError('name', `tools "${other}" and "${name}" would share the method ${method}`);
      }
      taken.set(method, name);
      this.#methods.set(name, this.#methodOf(name, method));
    }
  }

  async call(context: ToolCallContext): Promise<unknown> {
    const method = this.#methods.get(context.tool.name);
    if (method === undefined) throw new ToolDefinitionError('name', `there is no tool "${context.tool.name}" here`);
    return await method.call(this, context.arguments, context);
  }

  #methodOf(tool: string, method: string): ToolMethod {
    const candidate: unknown = Reflect.get(this, method);
    if (typeof candidate === 'function') return candidate as ToolMethod;
    throw new ToolDefinitionError('name', `tool "${tool}" needs a method ${method}`);
  }
}

/** `do` and the words of the name, each with a capital: `read_file` → `doReadFile`. */
function methodName(tool: string): string {
  const words = tool.split(/[_-]+/u).filter((word) => word !== '');
  return `do${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
}
