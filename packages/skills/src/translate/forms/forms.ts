import type { KnownLanguage } from '../../text/stop-words.js';
import type { WordKind } from '../glossary/row.js';
import { english } from './english.js';
import { french } from './french.js';
import { german } from './german.js';
import { russian } from './russian.js';

/**
 * Which of a word's main forms: nouns 0 singular, 1 plural; verbs 0 infinitive, 1 third person singular, 2 past;
 * all others 0.
 */
export type Slot = 0 | 1 | 2;

export interface LanguageForms {
  /** The main forms by slot, those that the glossary leaves out made by rule; shorter where no rule is safe. */
  main(kind: WordKind, given: readonly [string, ...string[]]): readonly [string, ...string[]];
  /** What else the word looks like in text, with the slot whose meaning is nearest. */
  others(kind: WordKind, main: readonly [string, ...string[]]): readonly (readonly [form: string, slot: Slot])[];
}

export const FORMS: Readonly<Record<KnownLanguage, LanguageForms>> = {
  en: english,
  ru: russian,
  de: german,
  fr: french,
};
