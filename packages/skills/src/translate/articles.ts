import type { KnownLanguage } from '../text/stop-words.js';
import type { Gender } from './forms/cell.js';

export type Definiteness = 'definite' | 'indefinite';

const definite = (words: string): [string, Definiteness][] => words.split(' ').map((word) => [word, 'definite']);
const indefinite = (words: string): [string, Definiteness][] => words.split(' ').map((word) => [word, 'indefinite']);

const ARTICLES: Readonly<Record<KnownLanguage, ReadonlyMap<string, Definiteness>>> = {
  en: new Map([...definite('the'), ...indefinite('a an')]),
  ru: new Map(),
  de: new Map([...definite('der die das den dem des'), ...indefinite('ein eine einen einem einer eines')]),
  fr: new Map([...definite("le la les l'"), ...indefinite('un une')]),
};

/** Words that have nothing to stand for them in another language: French half negations, reflexive pronouns. */
const SILENT: Readonly<Partial<Record<KnownLanguage, ReadonlySet<string>>>> = {
  de: new Set(['sich']),
  fr: new Set(['ne', "n'", 'se', "s'"]),
};

export function definitenessOf(word: string, language: KnownLanguage): Definiteness | undefined {
  return ARTICLES[language].get(word);
}

export function isSilent(word: string, language: KnownLanguage): boolean {
  return SILENT[language]?.has(word) ?? false;
}

/** The noun that an article belongs to, as far as it was found. */
export interface ArticleNoun {
  readonly gender: Gender | undefined;
  readonly isPlural: boolean;
}

const GERMAN = { m: 'der', f: 'die', n: 'das', p: 'die' } as const;
const GERMAN_INDEFINITE = { m: 'ein', f: 'eine', n: 'ein', p: '' } as const;
const FRENCH = { m: 'le', f: 'la', n: 'le', p: 'les' } as const;
const FRENCH_INDEFINITE = { m: 'un', f: 'une', n: 'un', p: 'des' } as const;

/** The article in the target language, in the nominative; empty where there is none. */
export function articleFor(target: KnownLanguage, definiteness: Definiteness, noun: ArticleNoun | undefined): string {
  const gender = noun?.isPlural === true ? 'p' : (noun?.gender ?? 'm');
  const isDefinite = definiteness === 'definite';
  if (target === 'en') return isDefinite ? 'the' : gender === 'p' ? '' : 'a';
  if (target === 'de') return (isDefinite ? GERMAN : GERMAN_INDEFINITE)[gender];
  if (target === 'fr') return (isDefinite ? FRENCH : FRENCH_INDEFINITE)[gender];
  return '';
}
