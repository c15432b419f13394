/**
 * One concept: the English cell, then the other language's, the best translation first.
 *
 * A cell may hold more forms behind slashes; an empty one, or one left out, is made by rule (see `../forms`):
 * - nouns: `singular/plural`, German with its article (`der Agent/Agenten`), French with `un`, `une` or `des`;
 * - verbs: `infinitive/third person singular/past`; further past forms may follow, to be recognised only.
 */
export type Row = readonly [english: string, other: string, ...alternatives: string[]];

/** What a row is about decides which forms its words have. In the order in which the kinds are looked up. */
export const WORD_KINDS = ['phrase', 'function', 'noun', 'verb', 'adjective', 'adverb'] as const;

export type WordKind = (typeof WORD_KINDS)[number];

export type Glossary = Readonly<Record<WordKind, readonly Row[]>>;
