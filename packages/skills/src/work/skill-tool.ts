import type { Skill, SkillContext } from '@parley/agent';
import type { ToolCallContext, ToolDefinition, ToolHandler } from '@parley/harness';
import { AppError } from '@parley/service-kit';

/**
 * One piece of work as a tool: the skill on the input that came with the task, with the agreed parameters. The model
 * decides whether and when, not on what or how: neither input nor parameters are its to change.
 */
export class SkillTool implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  /** What the last call gave, or why it did not. */
  output: Record<string, unknown> | undefined;
  failure: AppError | undefined;
  readonly #skill: Skill;
  readonly #input: unknown;
  readonly #context: SkillContext;

  constructor(skill: Skill, input: unknown, context: SkillContext) {
    this.#skill = skill;
    this.#input = input;
    this.#context = context;
    this.tools = [
      {
        name: skill.capability,
        description: `${skill.detail.description ?? skill.capability} Works on the input of the task; takes no arguments.`,
        effect: 'read_only',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      },
    ];
  }

  async call({ signal }: ToolCallContext): Promise<unknown> {
    try {
      this.output = await this.#skill.run(this.#input, { ...this.#context, signal });
      this.failure = undefined;
      return this.output;
    } catch (error) {
      this.failure = AppError.from(error);
      throw this.failure;
    }
  }
}
