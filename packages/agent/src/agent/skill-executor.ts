import { AppError, validate } from '@parley/service-kit';
import type { TaskExecutor, TaskPart } from '../a2a/task-executor.js';
import type { AnySkill } from './agent-options.js';

/**
 * Does calls by the skills themselves: for an agent that nobody gave an executor. Knows no words and no conversations,
 * only described pieces of work.
 */
export function skillExecutor(skills: readonly AnySkill[]): TaskExecutor {
  const byName = new Map(skills.map((skill) => [skill.capability, skill]));
  return {
    execute: async ({ capability = '', parts, parameters, signal, contextId }) => {
      const skill = byName.get(capability);
      if (skill === undefined) return { state: 'rejected' };
      const input: unknown = validate(skill.input, inputIn(parts));
      return { state: 'completed', output: await skill.run(input, { parameters, signal, contextId }) };
    },
  };
}

function inputIn(parts: readonly TaskPart[]): unknown {
  const part = parts.find(({ kind }) => kind === 'data');
  if (part?.kind === 'data' && typeof part.data === 'object' && part.data !== null && 'input' in part.data) {
    return part.data.input;
  }
  throw new AppError('invalid_request', 'A data part with the input is needed.');
}
