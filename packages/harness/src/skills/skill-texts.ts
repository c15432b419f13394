import { dirname } from 'node:path';
import type { LoadedSkill, Skill } from './skill.js';

const MAX_DESCRIPTION_CHARS = 1_024;

/** The list of skills that the model sees in every request; null if there are none. */
export function indexTextOf(skills: readonly Skill[]): string | null {
  if (skills.length === 0) return null;
  return [
    'Skills are instructions for certain kinds of work, each in a file on this machine. If one fits the task and you',
    'can read files, read it before you begin. When the user writes $name or skill:name, that skill is shown in full.',
    '',
    ...skills.flatMap(({ name, description, location }) => [
      `- name: ${name}`,
      `  description: ${description === '' ? '(none)' : bounded(description)}`,
      `  location: ${location}`,
    ]),
  ].join('\n');
}

/** A skill in full, for the model that is to follow it. */
export function activationTextOf(skill: LoadedSkill): string {
  const sections = [
    `The skill "${skill.name}" was chosen for this task: follow it. Paths in it are relative to ${dirname(skill.location)}.`,
    `[SKILL.md]\n${skill.instructions}`,
  ];
  if (skill.template !== null) sections.push(`[template.md]\n${skill.template}`);
  if (skill.sample !== null) sections.push(`[examples/sample.md]\n${skill.sample}`);
  return sections.join('\n\n');
}

function bounded(description: string): string {
  const characters = Array.from(description);
  return characters.length <= MAX_DESCRIPTION_CHARS
    ? description
    : `${characters.slice(0, MAX_DESCRIPTION_CHARS - 1).join('')}…`;
}
