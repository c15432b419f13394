import type { KnownLanguage } from '../../text/stop-words.js';
import type { WordKind } from '../glossary/row.js';

/** `p` is for nouns that exist in the plural only. */
export type Gender = 'm' | 'f' | 'n' | 'p';

export interface Cell {
  readonly gender?: Gender;
  /** As written; an empty one is to be made by rule. */
  readonly forms: readonly [base: string, ...more: string[]];
}

const ARTICLES: Readonly<Partial<Record<KnownLanguage, Readonly<Record<string, Gender>>>>> = {
  de: { der: 'm', die: 'f', das: 'n' },
  fr: { un: 'm', une: 'f', des: 'p' },
};

/** Takes a cell of the glossary apart: `der Agent/Agenten` is masculine, with two forms. */
export function parseCell(cell: string, language: KnownLanguage, kind: WordKind): Cell {
  const [base = '', ...more] = cell.split('/');
  const space = base.indexOf(' ');
  const gender = kind === 'noun' && space > 0 ? ARTICLES[language]?.[base.slice(0, space)] : undefined;
  if (gender === undefined) return { forms: [base, ...more] };
  return { gender, forms: [base.slice(space + 1), ...more] };
}
