import { mask, type MaskedText, quotationsIn, unmask, withoutQuotations } from './masked-text.js';
import { wordsOf } from './words.js';

/** One thing that a text asks for, and what in it could be an argument. */
export interface RequestStep {
  /** As it was written, without quotation marks. */
  readonly text: string;
  /** The same, without what is quoted. */
  readonly unquoted: string;
  /** Its meaningful words outside of quotations. */
  readonly words: readonly string[];
  readonly quotations: readonly string[];
  /** Tokens that look like names of files or folders, quoted ones last. */
  readonly files: readonly string[];
  readonly urls: readonly string[];
  readonly numbers: readonly number[];
}

/** Steps looked at in one text. */
const MAX_STEPS = 16;

/** Characters outside of quotations that are looked at; a plan in words is never that long. */
const MAX_PLAN_CHARACTERS = 8_000;

/** What stands between two steps: the end of a sentence, an entry of a list, “and then”. */
const BOUNDARY = /[.!?;](?=\s|$)|\n ?(?:[-*•]|\d{1,3}[.)]) |,? (?:and )?(?:then|afterwards?) |,? after that,? |\n\n/giu;

/** What a step may begin with and need not. */
const LEAD = /^(?:(?:[-*•]|\d{1,3}[.)]) |(?:first|next|finally|then|and|please)\b,? ?)+/iu;

/** The steps of a text: its sentences, list entries, and the parts of “do this, then that”. At most 16. */
export function stepsOf(text: string): readonly MaskedText[] {
  const { text: masked, quotations } = mask(text);
  return compact(masked)
    .split(BOUNDARY)
    .map((part) => ({ text: part.trim().replace(LEAD, ''), quotations }))
    .filter((part) => /[\p{L}\p{N}\uE000]/u.test(part.text))
    .slice(0, MAX_STEPS);
}

// Long runs of blanks would make the patterns above slow.
function compact(masked: string): string {
  return masked
    .slice(0, MAX_PLAN_CHARACTERS)
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/gu, '\n')
    .replace(/\n{2,}/gu, '\n\n');
}

/** The two halves of a step at each of its “and”s. */
export function halvesOf(step: MaskedText): readonly (readonly [MaskedText, MaskedText])[] {
  return Array.from(step.text.matchAll(/,? and /giu), (match) => [
    { ...step, text: step.text.slice(0, match.index) },
    { ...step, text: step.text.slice(match.index + match[0].length) },
  ]);
}

export function readStep(masked: MaskedText): RequestStep {
  const unquoted = withoutQuotations(masked);
  const quotations = quotationsIn(masked);
  const tokens = unquoted.split(/[\s()<>=,;"]+/u).map((token) => token.replace(/[.:!?]+$/u, ''));
  const isUrl = (token: string): boolean => /^https?:\/\/\S/iu.test(token);
  const others = tokens.filter((token) => !isUrl(token));
  return {
    text: unmask(masked),
    unquoted,
    words: wordsOf(others.join(' ')),
    quotations,
    files: [...new Set([...others, ...quotations].filter(looksLikeFile))],
    urls: [...tokens, ...quotations].filter(isUrl),
    numbers: others.filter((token) => /^-?\d+(?:\.\d+)?$/u.test(token)).map(Number),
  };
}

/** `notes.txt`, `src/`, `./a`, `/etc/hosts`, `.env`; not `and/or`, `e.g`, `3.14` or a sentence. */
function looksLikeFile(token: string): boolean {
  if (token.length > 300 || !/^[\p{L}\p{N}_@~./\\+-]+$/u.test(token) || /^(?:e\.g|i\.e|and\/or)$/iu.test(token))
    return false;
  if (/^(?:~|\.{1,2})?\//u.test(token)) return token.length > 1;
  if (/\w\/[\w.]*/u.test(token)) return true;
  return /^[\w@.-]*\.[a-z][a-z0-9]{0,9}$/iu.test(token) && token.length > 2;
}
