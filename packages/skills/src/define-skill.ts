import type { Skill } from '@parley/agent';
import { validate } from '@parley/service-kit/base';

/**
 * Forgets a skill's own input type, so that skills of different input fit into one list. What makes that safe:
 * `run` checks its input by the skill's schema, also for callers that did not.
 */
export function defineSkill<I>(skill: Skill<I>): Skill {
  return { ...skill, run: async (input, context) => skill.run(validate(skill.input, input), context) };
}
