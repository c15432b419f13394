/** `kept` goes through untouched: code, addresses, numbers, names of the programming kind. */
export type TokenKind = 'word' | 'space' | 'kept' | 'mark';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** What is kept, tried in this order. Every part that could be tried in vain at many places has a bound. */
const KEPT = [
  // Code, fenced or in backticks.
  '```[^]*?```',
  '`[^`\\n]+`',
  // Addresses; punctuation at the end belongs to the sentence.
  '(?<![\\p{L}\\p{N}])(?:[a-z][a-z\\d+.-]{1,20}:\\/\\/|www\\.)[^\\s<>"\'`«»“”]*[^\\s<>"\'`«»“”.,;:!?()\\[\\]{}]\\/?',
  '[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,8}',
  // Tags and placeholders.
  '<\\/?[a-zA-Z][^<>\\n]{0,200}>',
  '\\$?\\{{1,2}[\\w.$ -]{0,100}\\}{1,2}',
  '%[sdifo](?![\\p{L}\\p{N}])',
  // Paths, options, handles, dotted names.
  '(?<![\\p{L}\\p{N}\\/])(?:~|\\.{1,2})?\\/[\\w.@-]*[\\w@-](?:\\/[\\w.@-]*[\\w@-])*',
  '(?<![\\p{L}\\p{N}-])--[a-z][\\w-]*',
  '(?<![\\p{L}\\p{N}])@\\w[\\w-]*(?:\\/[\\w-]+)?',
  '\\w[\\w-]{0,63}(?:\\.\\w[\\w-]{0,63})+(?:\\(\\))?',
  // Numbers with what hangs on them, snake_case, camelCase.
  '[\\p{L}\\p{N}_]*[\\p{N}_][\\p{L}\\p{N}_]*(?:[.,:\\/-]\\p{N}[\\p{L}\\p{N}_]*)*',
  '\\p{Ll}+\\p{Lu}\\p{L}*',
].join('|');

const WORD = "\\p{L}[\\p{L}\\p{M}]*(?:['’‑-]\\p{L}[\\p{L}\\p{M}]*)*";

const TOKEN = new RegExp(`(?<kept>${KEPT})|(?<word>${WORD})|(?<space>\\s+)|[^]`, 'gu');

/** Takes a text apart; the tokens put together again are the text. Takes time linear in the text. */
export function* tokenize(text: string): Generator<Token> {
  for (const match of text.matchAll(TOKEN)) {
    const groups = match.groups ?? {};
    const kind = groups['kept'] ? 'kept' : groups['word'] ? 'word' : groups['space'] ? 'space' : 'mark';
    yield { kind, text: match[0] };
  }
}
