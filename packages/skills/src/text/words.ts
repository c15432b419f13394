/** Letters with what belongs inside a word: marks, digits, apostrophes, hyphens. Never an empty match, linear. */
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’‑-][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;

/** One spelling for comparing: lower case, composed, straight apostrophes, `ё` as `е`. */
export function foldWord(word: string): string {
  return word.normalize('NFC').toLowerCase().replaceAll('’', "'").replaceAll('‑', '-').replaceAll('ё', 'е');
}

/** The words of a text, folded, in order. */
export function* foldedWords(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORD)) yield foldWord(word);
}
