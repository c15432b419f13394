import type { KnownLanguage } from '../text/stop-words.js';
import type { ArticleNoun, Definiteness } from './articles.js';
import type { Gender } from './forms/cell.js';
import { frenchAdjective } from './forms/french.js';
import { germanAdjective } from './forms/german.js';
import { russianAdjective, russianGender } from './forms/russian.js';
import type { Match } from './lexicon.js';
import { wordsAfter, type Unit } from './units.js';

/** An article or adjective looks over this many adjectives for its noun. */
const MAX_BETWEEN = 3;

/** The noun that what stands at `index` belongs to. */
export function nounAfter(units: readonly Unit[], index: number): Match | undefined {
  let between = 0;
  for (const unit of wordsAfter(units, index)) {
    if (unit.type !== 'known') return undefined;
    if (unit.match.sense.kind === 'noun') return unit.match;
    between += 1;
    if (unit.match.sense.kind !== 'adjective' || between > MAX_BETWEEN) return undefined;
  }
  return undefined;
}

export function articleNoun(match: Match | undefined): ArticleNoun | undefined {
  return match === undefined ? undefined : { gender: match.sense.gender, isPlural: match.slot === 1 };
}

/** The adjective in the form that its noun and article ask for, in the nominative: cases are beyond a glossary. */
export function agreeing(
  adjective: string,
  noun: Match,
  target: KnownLanguage,
  article: Definiteness | undefined,
): string {
  if (target === 'ru') return russianAdjective(adjective, russianNumberOrGender(noun));
  const gender = noun.slot === 1 ? 'p' : noun.sense.gender;
  if (gender === undefined) return adjective;
  if (target === 'de') return germanAdjective(adjective, germanEnding(gender, article));
  return target === 'fr' ? frenchAdjective(adjective, noun.sense.gender === 'f', gender === 'p') : adjective;
}

function russianNumberOrGender({ sense, slot }: Match): 'm' | 'f' | 'n' | 'p' {
  const [singular, plural] = sense.target;
  const isPluralOnly = /(?:ные|ги|сти)$/u.test(singular) && plural === undefined;
  return isPluralOnly || (slot === 1 && plural !== undefined) ? 'p' : russianGender(singular);
}

function germanEnding(gender: Gender, article: Definiteness | undefined): string {
  if (gender === 'p') return article === 'definite' ? 'en' : 'e';
  if (article === 'definite') return 'e';
  return { m: 'er', f: 'e', n: 'es' }[gender];
}

/** The article before an adjective, over other adjectives. */
export function articleBefore(units: readonly Unit[], index: number): Definiteness | undefined {
  for (let at = index - 1; at >= 0 && at >= index - 2 * MAX_BETWEEN; at -= 1) {
    const unit = units[at];
    if (unit?.type === 'article') return unit.definiteness;
    const isPassable = unit?.type === 'literal' ? unit.isSpace : isAdjective(unit);
    if (!isPassable) return undefined;
  }
  return undefined;
}

function isAdjective(unit: Unit | undefined): boolean {
  return unit?.type === 'known' && unit.match.sense.kind === 'adjective';
}
