import { capabilitiesIn } from './capability-words.js';
import { targetLanguagesIn } from './language-words.js';

/** A text that holds both a request and what it is about. */
export interface SplitRequest {
  readonly words: string;
  readonly content: string;
  /** The language after the fence of a block, such as `ts`. */
  readonly fence?: string;
}

/** Words of a request, with what stands around it, are never longer. */
const MAX_WORDS = 500;

/**
 * Takes apart “translate this into German: …”, a block between fences, a paragraph below or above its request, or a
 * quotation. Undefined if no part of the text asks for anything, or nothing else is there.
 */
export function splitRequest(text: string, others: readonly string[] = []): SplitRequest | undefined {
  const asks = (words: string): boolean => asksForWork(words, others);
  return (
    atFence(text, asks) ??
    atColon(text, asks) ??
    atLine(text, EMPTY_LINE, asks) ??
    atLastParagraph(text, asks) ??
    atLine(text, END_OF_LINE, asks) ??
    atQuotation(text, asks)
  );
}

/** True if the words ask for something that somebody may be able to do. */
export function asksForWork(words: string, others: readonly string[] = []): boolean {
  if (words.length > MAX_WORDS) return false;
  return capabilitiesIn(words, others).length > 0 || targetLanguagesIn(words).length > 0;
}

type Asks = (words: string) => boolean;

// Texts come from anybody and may be large: each of these looks at a beginning or an end of bounded length and then for
// one fixed string, so that no text makes them slow.

function atFence(text: string, asks: Asks): SplitRequest | undefined {
  const opening = /(?:^|\n)(`{3,20}|~{3,20})[ \t]*([\w+#.-]{0,30})[^\n]{0,200}\n/u.exec(text.slice(0, 2 * MAX_WORDS));
  if (opening === null) return undefined;
  const [whole, marks = '', fence = ''] = opening;
  const begin = opening.index + whole.length;
  const end = text.indexOf(`\n${marks}`, begin - 1);
  if (end === -1) return undefined;
  const content = text.slice(begin, end);
  const words = `${text.slice(0, opening.index)}\n${text.slice(end + 1 + marks.length)}`.trim();
  if (content.trim() === '' || !asks(words)) return undefined;
  return { words, content, ...(fence === '' ? {} : { fence }) };
}

/** Colons that are looked at. */
const MAX_COLONS = 10;

function atColon(text: string, asks: Asks): SplitRequest | undefined {
  const colons = [...text.slice(0, MAX_WORDS).matchAll(/:(?=\s)/gu)].slice(0, MAX_COLONS);
  for (const { index } of colons) {
    const words = text.slice(0, index);
    const content = text.slice(index + 1).trim();
    // A parameter, such as `max_sentences: 2`, is part of the request.
    if (/\b[a-z]+_[a-z_]+$/u.test(words) || content === '') continue;
    if (asks(words)) return { words, content };
  }
  return undefined;
}

const EMPTY_LINE = /\r?\n[ \t]{0,200}\r?\n/u;
const END_OF_LINE = /\r?\n/u;

function atLine(text: string, end: RegExp, asks: Asks): SplitRequest | undefined {
  const trimmed = text.trim();
  const at = end.exec(trimmed.slice(0, 2 * MAX_WORDS))?.index;
  if (at === undefined) return undefined;
  const words = trimmed.slice(0, at);
  return asks(words) ? { words, content: trimmed.slice(at).trim() } : undefined;
}

function atLastParagraph(text: string, asks: Asks): SplitRequest | undefined {
  const trimmed = text.trim();
  const paragraphs = trimmed.slice(-2 * MAX_WORDS).split(EMPTY_LINE);
  const words = paragraphs.at(-1) ?? '';
  if (paragraphs.length < 2 || !asks(words)) return undefined;
  return { words, content: trimmed.slice(0, -words.length).trim() };
}

/** Opening marks with those that close them. */
const QUOTATION_MARKS: ReadonlyMap<string, string> = new Map([
  ['“', '”'],
  ['"', '"'],
  ['«', '»'],
  ['„', '“'],
]);

function atQuotation(text: string, asks: Asks): SplitRequest | undefined {
  const opening = /[“"«„]/u.exec(text.slice(0, MAX_WORDS));
  if (opening === null) return undefined;
  const begin = opening.index + 1;
  const end = text.indexOf(QUOTATION_MARKS.get(opening[0]) ?? '', begin);
  if (end < begin + 2) return undefined;
  const words = `${text.slice(0, begin - 1)} ${text.slice(end + 1)}`.trim();
  return asks(words) ? { words, content: text.slice(begin, end) } : undefined;
}
