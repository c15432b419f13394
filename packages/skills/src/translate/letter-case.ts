/** Whether a word is written in capitals throughout; one letter alone does not tell. */
function isShouted(text: string): boolean {
  const letters = text.replace(/[^\p{L}]/gu, '');
  return letters.length > 1 && letters === letters.toUpperCase() && letters !== letters.toLowerCase();
}

export function startsWithCapital(text: string): boolean {
  return /^\p{Lu}/u.test(text);
}

export function capitalize(text: string): string {
  return text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/**
 * Writes a translation the way the source is written. A capital that the glossary's own form has (a German noun,
 * `I`, `Monday`) says nothing, except at the beginning of a sentence.
 */
export function writeLike(translation: string, source: string, form: string, beginsSentence: boolean): string {
  if (isShouted(source) && !isShouted(form)) return translation.toUpperCase();
  if (!startsWithCapital(source)) return translation;
  return beginsSentence || !startsWithCapital(form) ? capitalize(translation) : translation;
}
