import type { Skill } from './skill.js';

const MARKER = /(?<![\p{L}\p{N}_])(?:\$|skill:)/giu;
const WORD_CHARACTER = /^[\p{L}\p{N}_]/u;

/**
 * The first of the skills, in their order, that the text names as `$name` (exactly) or as `skill:name` (in any case),
 * with no letter, digit or underscore before or after. Where one name begins with another, the longer one that fits is
 * meant, so that `$pdf-forms` does not name `pdf`.
 */
export function mentionedSkill<S extends Skill>(text: string, skills: readonly S[]): S | null {
  const longestFirst = skills.toSorted((a, b) => b.name.length - a.name.length);
  const mentioned = new Set<S>();
  for (const match of text.matchAll(MARKER)) {
    const exact = match[0] === '$';
    const from = match.index + match[0].length;
    const skill = longestFirst.find(({ name }) => names(text, from, name, exact));
    if (skill !== undefined) mentioned.add(skill);
  }
  return skills.find((skill) => mentioned.has(skill)) ?? null;
}

function names(text: string, from: number, name: string, exact: boolean): boolean {
  const found = text.slice(from, from + name.length);
  const same = exact ? found === name : found.toLowerCase() === name.toLowerCase();
  // Two units: the character after the name may be a surrogate pair.
  return same && !WORD_CHARACTER.test(text.slice(from + name.length, from + name.length + 2));
}
