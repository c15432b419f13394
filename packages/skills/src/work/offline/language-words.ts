/** Languages by the beginnings of what they are called in English, German, French and Russian. */
const LANGUAGES: readonly (readonly [string, string])[] = [
  ['en', String.raw`english|englisch\p{L}{0,2}|anglais|английск\p{L}{2,3}`],
  ['ru', String.raw`russian|russisch\p{L}{0,2}|russe|русск\p{L}{2,3}`],
  ['de', String.raw`german|deutsch\p{L}{0,2}|allemand|немецк\p{L}{2,3}`],
  ['fr', String.raw`french|französisch\p{L}{0,2}|français|francais|французск\p{L}{2,3}`],
];
const ADVERBS: readonly (readonly [string, string])[] = [
  ['en', 'по-английски'],
  ['ru', 'по-русски'],
  ['de', 'по-немецки'],
  ['fr', 'по-французски'],
];

const START = String.raw`(?<![\p{L}\p{N}_-])`;
const END = String.raw`(?![\p{L}\p{N}_-])`;
const ANY = LANGUAGES.map(([, names]) => names).join('|');
const INTO = String.raw`(?:in das|in die|in|into|to|auf|ins|nach|en|vers l[’']|vers le|на)`;
const FROM = String.raw`(?:from|aus dem|vom|du|de l[’']|с|из)`;
const AND = String.raw`(?:,? (?:and|und|et|и)|,)`;
const ALSO = String.raw`(?:(?:and|und|et|и|also|auch|aussi|zugleich|then) )?`;

const TARGETS = new RegExp(
  `${START}${INTO} ?(?:the )?(${ANY})(?:(?: language)?((?:${AND} ${ALSO}(?:${INTO} )?(?:${ANY})${END}){0,5}))?${END}|${START}(${ADVERBS.map(([, word]) => word).join('|')})${END}`,
  'giu',
);
const SOURCE = new RegExp(`${START}${FROM} ?(?:the )?(${ANY})${END}`, 'iu');
const ALONE = new RegExp(`${START}(${ANY})${END}`, 'giu');
const UNKNOWN = /(?<=\b(?:into|to|in|auf|ins|en) )(\p{Lu}\p{Ll}{3,})(?=[\s.,;:!?]|$)/u;

export interface LanguageMention {
  /** `en`, `ru`, `de` or `fr`; several for “into French and German”. */
  readonly languages: readonly string[];
  readonly at: number;
}

/** The languages that something is to be put into, in the order of the words. */
export function targetLanguagesIn(words: string): LanguageMention[] {
  return Array.from(words.matchAll(TARGETS), (match) => {
    const named = [match[1], match[3]].flatMap((name) => (name === undefined ? [] : [codeOf(name)]));
    const more = Array.from((match[2] ?? '').matchAll(ALONE), ([name]) => codeOf(name));
    const languages = [...named, ...more].filter((code) => code !== undefined);
    return { languages: [...new Set(languages)], at: match.index };
  }).filter(({ languages }) => languages.length > 0);
}

/** The language that the words say the text is written in. */
export function sourceLanguageIn(words: string): string | undefined {
  const name = SOURCE.exec(words)?.[1];
  return name === undefined ? undefined : codeOf(name);
}

/** A language named without more, as in an answer; a code of two letters is one too. */
export function languageNamed(words: string): string | undefined {
  const name = Array.from(words.matchAll(ALONE), ([found]) => found).at(-1);
  if (name !== undefined) return codeOf(name);
  const code = words.trim().toLowerCase().replace(/[.!]$/u, '');
  return LANGUAGES.some(([known]) => known === code) ? code : targetLanguagesIn(words)[0]?.languages[0];
}

/** What looks like the name of a language that is none of the four. */
export function unknownLanguageIn(words: string): string | undefined {
  return UNKNOWN.exec(words)?.[1];
}

function codeOf(name: string): string | undefined {
  const found = [...ADVERBS, ...LANGUAGES].find(([, names]) => new RegExp(`^(?:${names})$`, 'iu').test(name));
  return found?.[0];
}
