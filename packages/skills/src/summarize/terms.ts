import { STOP_WORDS, type KnownLanguage } from '../text/stop-words.js';
import { foldedWords } from '../text/words.js';

/** Endings to cut so that forms of one word meet, longest first. Crude, but the same for all forms. */
const ENDINGS: Readonly<Record<KnownLanguage, readonly string[]>> = {
  en: ['ations', 'ation', 'ingly', 'ings', 'edly', 'ing', 'ers', 'ies', 'ed', 'er', 'es', 'ly', "'s", 's', 'e', 'y'],
  ru: `иями ыми ими ями ами ого его ому ему ого ать ять ить еть ует ают яют ишь ешь ией ией ях ах ов ев ей ой ий ый
    ая яя ое ее ые ие ую юю ым им ом ем ам ям ых их ию ия ии ет ит ал ил ла ло ли а я о е ы и у ю ь й`.split(/\s+/),
  de: ['ungen', 'ung', 'ern', 'end', 'em', 'en', 'er', 'es', 'et', 'st', 'e', 'n', 's', 't'],
  fr: [
    'ements',
    'ement',
    'ations',
    'ation',
    'euses',
    'euse',
    'ées',
    'ent',
    'ait',
    'és',
    'ée',
    'er',
    'es',
    'é',
    'e',
    's',
  ],
};

const MIN_STEM_CHARS = 3;
const MAX_TERM_CHARS = 40;
/** Scripts that write no spaces between words: pairs of neighbouring characters stand for the words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

export function stem(word: string, language: KnownLanguage | undefined): string {
  if (language === undefined || /\p{N}/u.test(word)) return word;
  for (const ending of ENDINGS[language]) {
    if (word.length - ending.length >= MIN_STEM_CHARS && word.endsWith(ending)) return word.slice(0, -ending.length);
  }
  return word;
}

/** The words of a sentence that say what it is about, as stems, with how often each stands in it. */
export function termsOf(sentence: string, language: KnownLanguage | undefined): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of foldedWords(sentence)) {
    for (const term of UNSPACED.test(word) ? pairs(word) : spacedTerm(word, language)) {
      counts.set(term, (counts.get(term) ?? 0) + 1);
    }
  }
  return counts;
}

function spacedTerm(word: string, language: KnownLanguage | undefined): string[] {
  if (language !== undefined && STOP_WORDS[language].has(word)) return [];
  if (word.length < 2) return [];
  return [stem(word.slice(0, MAX_TERM_CHARS), language)];
}

function pairs(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}
