import { KNOWN_LANGUAGES, type KnownLanguage } from '../text/stop-words.js';
import { foldWord } from '../text/words.js';
import { parseCell, type Cell, type Gender } from './forms/cell.js';
import { FORMS, type Slot } from './forms/forms.js';
import { EN_DE } from './glossary/en-de/glossary.js';
import { EN_FR } from './glossary/en-fr/glossary.js';
import { EN_RU } from './glossary/en-ru/glossary.js';
import { WORD_KINDS, type Glossary, type Row, type WordKind } from './glossary/row.js';

/** What one word or phrase means: its forms in both languages by slot. */
export interface Sense {
  readonly kind: WordKind;
  /** The English word behind it, whatever the languages: senses of different pairs meet in it. */
  readonly english: string;
  readonly target: readonly [string, ...string[]];
  /** Of the target, where its grammar has genders and the glossary tells. */
  readonly gender?: Gender;
}

/** A form found in the text, `form` in the case that the glossary gives it. */
export interface Match {
  readonly sense: Sense;
  readonly slot: Slot;
  readonly form: string;
}

/** Everything known for one direction. Keys are folded words with single spaces between them. */
export interface Lexicon {
  /** The likeliest first. */
  candidates(key: string): readonly Match[];
  /** The most words that a phrase with this first word has, 0 if there is none. */
  longestFrom(firstWord: string): number;
}

const GLOSSARIES: Readonly<Record<Exclude<KnownLanguage, 'en'>, Glossary>> = { ru: EN_RU, de: EN_DE, fr: EN_FR };

const built = new Map<string, Lexicon>();

/** Builds the lexicon of a direction when it is first asked for; there are twelve at the most. */
export function lexiconFor(source: KnownLanguage, target: KnownLanguage): Lexicon {
  const name = `${source}-${target}`;
  const known = built.get(name);
  if (known !== undefined) return known;
  const lexicon = build(source, [...sensesOf(source, target)]);
  built.set(name, lexicon);
  return lexicon;
}

/** Whether any glossary has the word, as a word of this language. */
export function knowsWord(language: KnownLanguage, word: string): boolean {
  const others = language === 'en' ? KNOWN_LANGUAGES.filter((other) => other !== 'en') : (['en'] as const);
  return others.some((other) => lexiconFor(language, other).candidates(word).length > 0);
}

interface SourcedSense {
  readonly source: Cell['forms'];
  readonly sense: Sense;
}

function* sensesOf(source: KnownLanguage, target: KnownLanguage): Generator<SourcedSense> {
  if (source === target) return;
  if (source === 'en' && target !== 'en') yield* fromEnglish(target);
  else if (source !== 'en' && target === 'en') yield* toEnglish(source);
  else if (source !== 'en' && target !== 'en') yield* throughEnglish(source, target);
}

function* rowsOf(glossary: Glossary): Generator<[WordKind, Row]> {
  for (const kind of WORD_KINDS) for (const row of glossary[kind]) yield [kind, row];
}

function* fromEnglish(target: Exclude<KnownLanguage, 'en'>): Generator<SourcedSense> {
  for (const [kind, [englishCell, cell]] of rowsOf(GLOSSARIES[target])) {
    const english = parseCell(englishCell, 'en', kind);
    const { forms, gender } = parseCell(cell, target, kind);
    const sense = { kind, english: english.forms[0], target: FORMS[target].main(kind, forms) };
    yield { source: FORMS.en.main(kind, english.forms), sense: gender === undefined ? sense : { ...sense, gender } };
  }
}

function* toEnglish(source: Exclude<KnownLanguage, 'en'>): Generator<SourcedSense> {
  for (const [kind, [englishCell, ...cells]] of rowsOf(GLOSSARIES[source])) {
    const english = parseCell(englishCell, 'en', kind);
    const sense = { kind, english: english.forms[0], target: FORMS.en.main(kind, english.forms) };
    for (const cell of cells) yield { source: FORMS[source].main(kind, parseCell(cell, source, kind).forms), sense };
  }
}

/** Two languages without a glossary between them meet in the English word, if it is of the same kind in both. */
function* throughEnglish(source: KnownLanguage, target: KnownLanguage): Generator<SourcedSense> {
  if (source === 'en' || target === 'en') return;
  const senses = new Map<string, Sense>();
  for (const { sense } of fromEnglish(target)) {
    const key = `${sense.kind} ${sense.english}`;
    if (!senses.has(key)) senses.set(key, sense);
  }
  for (const { source: forms, sense } of toEnglish(source)) {
    const found = senses.get(`${sense.kind} ${sense.english}`);
    if (found !== undefined) yield { source: forms, sense: found };
  }
}

function build(source: KnownLanguage, senses: readonly SourcedSense[]): Lexicon {
  const matches = new Map<string, Match[]>();
  const longest = new Map<string, number>();
  const add = (form: string, slot: Slot, sense: Sense): void => {
    const words = foldWord(form).split(' ');
    const [first = ''] = words;
    const key = words.join(' ');
    if (!/\p{L}/u.test(key)) return;
    const already = matches.get(key);
    if (already === undefined) matches.set(key, [{ sense, slot, form }]);
    else already.push({ sense, slot, form });
    longest.set(first, Math.max(longest.get(first) ?? 0, words.length));
  };
  // What the glossary says goes before what is derived from it.
  for (const { source: forms, sense } of senses) {
    for (const [slot, form] of forms.slice(0, 3).entries()) add(form, slot as Slot, sense);
  }
  for (const { source: forms, sense } of senses) {
    for (const [form, slot] of FORMS[source].others(sense.kind, forms)) add(form, slot, sense);
  }
  return {
    candidates: (key) => matches.get(key) ?? [],
    longestFrom: (firstWord) => longest.get(firstWord) ?? 0,
  };
}
