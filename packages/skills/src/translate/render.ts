import type { KnownLanguage } from '../text/stop-words.js';
import { foldWord } from '../text/words.js';
import { agreeing, articleBefore, articleNoun, nounAfter } from './agreement.js';
import { articleFor } from './articles.js';
import { joinPieces, type Piece } from './join.js';
import { capitalize, startsWithCapital, writeLike } from './letter-case.js';
import { wordsAfter, type Unit } from './units.js';

/** What Russian writes for `is` between nouns; at the ends of a sentence it writes nothing. */
const DASH = '—';

/** Writes the units in the target language, white space and punctuation where they were. */
export function render(units: readonly Unit[], source: KnownLanguage, target: KnownLanguage): string {
  const pieces: Piece[] = [];
  let owesCapital = false;
  let swallowsSpace = false;
  for (const [index, unit] of units.entries()) {
    if (unit.type === 'literal') {
      const text = swallowsSpace && unit.isSpace ? unit.text.slice(1) : unit.text;
      swallowsSpace = false;
      if (text !== '') pieces.push({ text, isWord: false });
      continue;
    }
    const written = write(units, index, source, target);
    if (written === '') {
      // What is left out hands its capital to the next word and takes one space along.
      owesCapital ||= 'beginsSentence' in unit && unit.beginsSentence && startsWithCapital(unit.text);
      const next = units[index + 1];
      const hasSpaceAfter = next?.type === 'literal' && next.isSpace;
      if (!hasSpaceAfter && next?.type === 'literal' && pieces.at(-1)?.text === ' ') pieces.pop();
      swallowsSpace = hasSpaceAfter;
      continue;
    }
    pieces.push({ text: owesCapital ? capitalize(written) : written, isWord: true });
    owesCapital = false;
    swallowsSpace = false;
  }
  return joinPieces(pieces, target);
}

function write(units: readonly Unit[], index: number, source: KnownLanguage, target: KnownLanguage): string {
  const unit = units[index];
  if (unit === undefined || unit.type === 'literal' || unit.type === 'silent') return '';
  if (unit.type === 'unknown') return unit.text;
  const noun = nounAfter(units, index);
  if (unit.type === 'article') {
    const article = articleFor(target, unit.definiteness, articleNoun(noun));
    return startsWithCapital(unit.text) && unit.beginsSentence ? capitalize(article) : article;
  }
  const { match, text, beginsSentence } = unit;
  const isLast = wordsAfter(units, index).next().done === true;
  const form = match.sense.target[match.slot] ?? match.sense.target[0];
  if (isInfinitiveMark(units, index, source, target)) return '';
  if (form === DASH) return beginsSentence || isLast ? '' : DASH;
  const isAgreeing = match.sense.kind === 'adjective' && noun !== undefined;
  const agreed = isAgreeing ? agreeing(form, noun, target, articleBefore(units, index)) : form;
  return writeLike(agreed, text, match.form, beginsSentence);
}

/** English `to` before a verb is part of the infinitive, which Russian and French write without it. */
function isInfinitiveMark(
  units: readonly Unit[],
  index: number,
  source: KnownLanguage,
  target: KnownLanguage,
): boolean {
  if (source !== 'en' || target === 'de' || foldWord(units[index]?.text ?? '') !== 'to') return false;
  const [next] = wordsAfter(units, index);
  return next?.type === 'known' && next.match.sense.kind === 'verb' && next.match.slot === 0;
}
