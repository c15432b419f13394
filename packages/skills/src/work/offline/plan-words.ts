import { capabilitiesIn } from './capability-words.js';
import { sourceLanguageIn, targetLanguagesIn, unknownLanguageIn } from './language-words.js';

/** One piece of work that words ask for. */
export interface WordStep {
  readonly capability: string;
  /** What the words say of its parameters. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** It works on what the step before worked on, not on what that gave: “into French and German”. */
  readonly alongside: boolean;
  /** A language that nobody here knows. */
  readonly unknownLanguage?: string;
}

interface Draft {
  readonly capability: string;
  readonly at: number;
  readonly parameters: Record<string, string | number>;
  alongside: boolean;
  unknownLanguage?: string;
}

/** More steps than that are no request. */
const MAX_STEPS = 16;

/**
 * What the words ask for, in order: “review this file and summarise the findings in Russian” is a review, a summary and
 * a translation.
 *
 * @param others capabilities known by their name alone.
 */
export function planWords(words: string, others: readonly string[] = []): WordStep[] {
  const drafts: Draft[] = capabilitiesIn(words, others).map(({ capability, at }) => ({
    capability,
    at,
    parameters: {},
    alongside: false,
  }));
  for (const { languages, at } of targetLanguagesIn(words)) placeTarget(drafts, languages, at);
  drafts.sort((a, b) => a.at - b.at);
  addSource(drafts, words);
  addUnknown(drafts, words);
  addCount(drafts, words);
  addSeverity(drafts, words);
  return drafts.slice(0, MAX_STEPS).map(({ capability, parameters, alongside, unknownLanguage }) => ({
    capability,
    parameters,
    alongside,
    ...(unknownLanguage === undefined ? {} : { unknownLanguage }),
  }));
}

/** A language belongs to the translation before it, or after it if it comes first, or is a translation by itself. */
function placeTarget(drafts: Draft[], languages: readonly string[], at: number): void {
  const [first, ...more] = languages;
  if (first === undefined) return;
  const open = drafts.filter(
    ({ capability, parameters }) => capability === 'translate' && !('target_language' in parameters),
  );
  const isFirst = drafts.every((draft) => draft.at > at);
  const taker = open.findLast((draft) => draft.at <= at) ?? (isFirst ? open[0] : undefined);
  if (taker === undefined) drafts.push(translation(first, at, false));
  else taker.parameters['target_language'] = first;
  // Right behind it, whatever follows in the words.
  const place = taker?.at ?? at;
  drafts.push(...more.map((language, index) => translation(language, place + (index + 1) / 100, true)));
}

function translation(language: string, at: number, alongside: boolean): Draft {
  return { capability: 'translate', at, parameters: { target_language: language }, alongside };
}

function addSource(drafts: readonly Draft[], words: string): void {
  const source = sourceLanguageIn(words);
  const taker = drafts.find(({ capability }) => capability === 'translate');
  if (source !== undefined && taker !== undefined) taker.parameters['source_language'] = source;
}

function addUnknown(drafts: readonly Draft[], words: string): void {
  const taker = drafts.find(
    ({ capability, parameters }) => capability === 'translate' && !('target_language' in parameters),
  );
  const unknown = unknownLanguageIn(words);
  if (taker !== undefined && unknown !== undefined) taker.unknownLanguage = unknown;
}

const NUMBERS: readonly RegExp[] = [
  /^(?:one|a single|einem|einen|une?|одно\p{L}{0,2})$/iu,
  /^(?:two|zwei|deux|дв\p{L}{1,2})$/iu,
  /^(?:three|drei|trois|тр\p{L}{1,2})$/iu,
  /^(?:four|vier|quatre|четыр\p{L}{1,2})$/iu,
  /^(?:five|fünf|cinq|пят\p{L})$/iu,
  /^(?:six|sechs|шест\p{L})$/iu,
  /^(?:seven|sieben|sept|сем\p{L})$/iu,
  /^(?:eight|acht|huit|восьм\p{L})$/iu,
  /^(?:nine|neun|neuf|девят\p{L})$/iu,
  /^(?:ten|zehn|dix|десят\p{L})$/iu,
];
const COUNT = /(a single|[\p{L}]+|\d{1,3})[ -](?:sentences?|sätzen?|satz|phrases?|предложени\p{L}{1,2})(?![\p{L}])/iu;

function addCount(drafts: readonly Draft[], words: string): void {
  const taker = drafts.find(({ capability }) => capability === 'summarize');
  const said = COUNT.exec(words)?.[1];
  if (taker === undefined || said === undefined) return;
  const count = /^\d/u.test(said) ? Number(said) : NUMBERS.findIndex((pattern) => pattern.test(said)) + 1;
  if (count > 0) taker.parameters['max_sentences'] = count;
}

function addSeverity(drafts: readonly Draft[], words: string): void {
  const taker = drafts.find(({ capability }) => capability === 'code_review');
  if (taker === undefined) return;
  if (/\b(?:only|just) (?:the )?errors\b|\berrors only\b/iu.test(words)) taker.parameters['severity'] = 'error';
  if (/\bno (?:remarks|infos?|hints)\b|\bwarnings and errors\b/iu.test(words)) taker.parameters['severity'] = 'warning';
}
