import type { Skill } from '@parley/agent';
import { AppError } from '@parley/service-kit';
import { codeReview } from './code-review/code-review.js';
import { summarize } from './summarize/summarize.js';
import { translate } from './translate/translate.js';

const SKILLS: ReadonlyMap<string, Skill> = new Map(
  [translate, summarize, codeReview].map((skill) => [skill.capability, skill]),
);

/**
 * The skills with these names, in this order, each once.
 *
 * @throws AppError `invalid_request` with code `unknown_skill`, naming what is unknown and what there is.
 */
export function skillsByName(names: readonly string[]): Skill[] {
  const unknown = names.filter((name) => !SKILLS.has(name));
  if (unknown.length > 0) {
    const known = [...SKILLS.keys()].join(', ');
    const message = `No such skill: ${unknown.map((name) => JSON.stringify(name)).join(', ')}. There are ${known}.`;
    throw new AppError('invalid_request', message, { code: 'unknown_skill' });
  }
  return [...new Set(names)].flatMap((name) => SKILLS.get(name) ?? []);
}
