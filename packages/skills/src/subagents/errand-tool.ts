import type { Skill } from '@parley/agent';
import type { ToolCallContext, ToolDefinition, ToolHandler } from '@parley/harness';
import { AppError, validate } from '@parley/service-kit/base';
import { errandOf, type SkillAnswer } from './skill-errand.js';

/** A child's only tool: its skill, on the input and with the parameters that it was sent. */
export class ErrandTool implements ToolHandler {
  readonly tools: readonly ToolDefinition[];
  /** What the last call came to. Kept whole: a history cuts long results. */
  answer: SkillAnswer | undefined;
  readonly #skill: Skill;

  constructor(skill: Skill) {
    this.#skill = skill;
    this.tools = [
      {
        name: skill.capability,
        description: skill.detail.description ?? skill.capability,
        effect: 'read_only',
        parameters: {
          type: 'object',
          properties: { input: { type: 'object' }, parameters: { type: 'object' } },
          required: ['input', 'parameters'],
          additionalProperties: false,
        },
      },
    ];
  }

  async call({ tool, arguments: args, signal }: ToolCallContext): Promise<unknown> {
    try {
      const errand = errandOf({ tool: tool.name, ...args });
      if (errand === undefined) throw new AppError('invalid_request', 'The work cannot be read.');
      const input = validate(this.#skill.input, errand.input);
      const output = await this.#skill.run(input, { parameters: errand.parameters, signal });
      this.answer = { output };
      return output;
    } catch (thrown) {
      const error = AppError.from(thrown);
      this.answer = { error };
      throw error;
    }
  }
}
