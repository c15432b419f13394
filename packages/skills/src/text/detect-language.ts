import { KNOWN_LANGUAGES, STOP_WORDS, type KnownLanguage } from './stop-words.js';
import { foldedWords } from './words.js';

/** More does not make the guess better. */
const MAX_CHARS = 8_000;

/** Letters that only one of the Latin-written languages here uses. */
const TELLING_LETTERS: Readonly<Partial<Record<KnownLanguage, RegExp>>> = {
  de: /[äöüß]/u,
  fr: /[àâæçèéêëîïôœùûÿ]/u,
};

/** Says of a folded word whether it belongs to the language. */
export type KnowsWord = (language: KnownLanguage, word: string) => boolean;

/**
 * Guesses the language by its function words, then by telling letters. Only the first 8,000 characters count.
 *
 * @param knowsWord a larger vocabulary to ask when the function words decide nothing, as in short texts.
 * @returns undefined where nothing speaks for any of the known languages.
 */
export function detectLanguage(text: string, knowsWord?: KnowsWord): KnownLanguage | undefined {
  const words = [...foldedWords(text.slice(0, MAX_CHARS))].filter((word) => /^\p{L}/u.test(word));
  if (words.length === 0) return undefined;

  const cyrillic = words.filter((word) => /^\p{Script=Cyrillic}/u.test(word)).length;
  const latin = words.filter((word) => /^\p{Script=Latin}/u.test(word)).length;
  if (cyrillic > 0 && cyrillic >= latin) return 'ru';
  // A few Latin names in a Chinese text do not make it English.
  if (latin * 2 <= words.length) return undefined;

  return (
    clearWinner((language) => count(words, (word) => STOP_WORDS[language].has(word))) ??
    clearWinner((language) => count(words, (word) => TELLING_LETTERS[language]?.test(word) ?? false)) ??
    (knowsWord === undefined ? undefined : best((language) => count(words, (word) => knowsWord(language, word))))
  );
}

function count(words: readonly string[], test: (word: string) => boolean): number {
  let hits = 0;
  for (const word of words) if (test(word)) hits += 1;
  return hits;
}

const LATIN_WRITTEN = KNOWN_LANGUAGES.filter((language) => language !== 'ru');

/** The language with most points; the first named one among equals; none without a point. */
function best(pointsOf: (language: KnownLanguage) => number): KnownLanguage | undefined {
  let winner: KnownLanguage | undefined;
  let most = 0;
  for (const language of LATIN_WRITTEN) {
    const points = pointsOf(language);
    if (points > most) [winner, most] = [language, points];
  }
  return winner;
}

function clearWinner(pointsOf: (language: KnownLanguage) => number): KnownLanguage | undefined {
  const winner = best(pointsOf);
  if (winner === undefined) return undefined;
  const most = pointsOf(winner);
  return LATIN_WRITTEN.some((language) => language !== winner && pointsOf(language) === most) ? undefined : winner;
}
