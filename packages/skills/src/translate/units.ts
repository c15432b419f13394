import type { Definiteness } from './articles.js';
import type { Match } from './lexicon.js';

/** A piece of the source with what was understood of it. */
export type Unit =
  | { readonly type: 'literal'; readonly text: string; readonly isSpace: boolean }
  | { readonly type: 'unknown'; readonly text: string }
  | {
      readonly type: 'article';
      readonly text: string;
      readonly definiteness: Definiteness;
      readonly beginsSentence: boolean;
    }
  | { readonly type: 'silent'; readonly text: string }
  | { readonly type: 'known'; readonly text: string; readonly match: Match; readonly beginsSentence: boolean };

/** Of units in a row: those that are words, with only spaces between them, seen from one on. */
export function* wordsAfter(units: readonly Unit[], index: number): Generator<Unit> {
  for (let at = index + 1; at < units.length; at += 1) {
    const unit = units[at];
    if (unit === undefined) return;
    if (unit.type !== 'literal') yield unit;
    else if (!unit.isSpace) return;
  }
}
