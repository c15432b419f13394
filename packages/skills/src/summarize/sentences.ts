import { ALWAYS_GOES_ON, ENDS_AFTER_NUMBER, GERMAN_MONTH, MAY_END } from './abbreviations.js';
import { splitBlocks } from './blocks.js';

/** A sentence and where it stands: `text` is `source.slice(start, end)`, without white space around it. */
export interface Sentence {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** It is the first of its paragraph. */
  readonly opensParagraph: boolean;
  readonly isHeading: boolean;
}

/** Text without any full stop is cut at a space near here, so that a summary stays one. */
export const MAX_SENTENCE_CHARS = 1_000;

/** One or more marks that can end a sentence, then the quotes and brackets that close with it. */
const END = /[.!?…؟।։。！？｡．]+["'”’»›)\]}」』）】》〉]*/gu;
const WIDE_END = /[。！？｡．]/u;
const OPENING = /^["'“„«‹([{¿¡—–\-*_#>\s]*/u;

/**
 * Splits text into sentences. Abbreviations, initials, decimals, ordinals and addresses do not end one;
 * Chinese and Japanese marks end one without a space after them; blank lines, headings and list items always do.
 * Takes time linear in the text.
 */
export function splitSentences(source: string): Sentence[] {
  const sentences: Sentence[] = [];
  for (const block of splitBlocks(source)) {
    const text = source.slice(block.start, block.end);
    let start = 0;
    let opensParagraph = true;
    for (const end of sentenceEnds(text)) {
      for (const [from, to] of pieces(text, start, end)) {
        sentences.push({
          start: block.start + from,
          end: block.start + to,
          text: text.slice(from, to),
          opensParagraph,
          isHeading: block.isHeading,
        });
        opensParagraph = false;
      }
      start = end;
    }
  }
  return sentences;
}

function* sentenceEnds(block: string): Generator<number> {
  // Somebody who writes without capitals still ends sentences.
  const hasCapitals = /\p{Lu}/u.test(block);
  for (const match of block.matchAll(END)) {
    const end = match.index + match[0].length;
    if (end < block.length && endsSentence(block, match.index, match[0], hasCapitals)) yield end;
  }
  yield block.length;
}

function endsSentence(block: string, at: number, mark: string, hasCapitals: boolean): boolean {
  const end = at + mark.length;
  const after = block.slice(end, end + 40);
  if (WIDE_END.test(mark)) {
    // A quotation inside the sentence: 「はい。」と言った。
    if (/[」』）】》〉]$/u.test(mark)) return !/^\p{L}/u.test(after);
    return !/^\p{N}/u.test(after);
  }
  if (!/^\s/u.test(after)) return false;

  const next = after.replace(OPENING, '');
  if (hasCapitals && /^\p{Ll}/u.test(next)) return false;
  return !mark.startsWith('.') || mark.startsWith('..') || dotEndsSentence(block, at, next);
}

function dotEndsSentence(block: string, at: number, next: string): boolean {
  const before = block.slice(Math.max(0, at - 24), at);
  const token = /[\p{L}\p{M}\p{N}.\-]*$/u.exec(before)?.[0] ?? '';
  if (/^\p{Lu}$/u.test(token)) return false;
  if (/^\d{1,3}$/.test(token)) {
    const opensLine = before.slice(0, before.length - token.length).trim() === '' && at - token.length < 24;
    return !opensLine && !GERMAN_MONTH.test(next);
  }
  const word = token.toLowerCase();
  if (ALWAYS_GOES_ON.has(word)) return false;
  const beginsAnew = /^[\p{Lu}\p{Lo}]/u.test(next);
  if (ENDS_AFTER_NUMBER.has(word)) {
    return beginsAnew && /[\p{N}XVI]\s?$/u.test(before.slice(0, before.length - token.length));
  }
  if (MAY_END.has(word)) return beginsAnew;
  // Initials written together, `А.С. Пушкин`, and abbreviations that no list knows, `N.A.T.O.`
  return !/^(?:\p{L}\.)+\p{L}$/u.test(token);
}

/** What of `[start, end)` is left without white space around it, in pieces of bearable length. */
function* pieces(text: string, start: number, end: number): Generator<[number, number]> {
  let from = skipSpace(text, start, end);
  const to = trimSpace(text, from, end);
  while (to - from > MAX_SENTENCE_CHARS) {
    const cut = cutPoint(text, from);
    yield [from, trimSpace(text, from, cut)];
    from = skipSpace(text, cut, to);
  }
  if (from < to) yield [from, to];
}

function cutPoint(text: string, from: number): number {
  const limit = from + MAX_SENTENCE_CHARS;
  for (let at = limit; at > from + MAX_SENTENCE_CHARS / 2; at -= 1) if (isSpace(text, at)) return at;
  const splitsPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(limit - 1, limit + 1));
  return splitsPair ? limit - 1 : limit;
}

function isSpace(text: string, at: number): boolean {
  return /\s/u.test(text.charAt(at));
}

function skipSpace(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isSpace(text, at)) at += 1;
  return at;
}

function trimSpace(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isSpace(text, at - 1)) at -= 1;
  return at;
}
