/** Words that say nothing about which tool is meant. */
const EMPTY_WORDS = new Set(
  (
    'a an and any are as at be by can could do does for from given has have i if in into is it its me my no not of on or ' +
    'our please that the their them then there these this those to use used uses using via was we what when which will ' +
    'with would you your'
  ).split(' '),
);

/** What people say for what tools are called. */
const SYNONYMS: Readonly<Partial<Record<string, string>>> = {
  show: 'read',
  open: 'read',
  cat: 'read',
  display: 'read',
  view: 'read',
  print: 'read',
  save: 'write',
  store: 'write',
  create: 'write',
  find: 'search',
  grep: 'search',
  look: 'search',
  execute: 'run',
  delete: 'remove',
  erase: 'remove',
  folder: 'directory',
  dir: 'directory',
};

/** The meaningful words of a text in a common form, each once, in order. `readFile` and `read_file` are two words. */
export function wordsOf(text: string): readonly string[] {
  const spaced = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  const words = spaced.match(/[\p{L}]{2,}/gu) ?? [];
  return [...new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(commonForm))];
}

/** `files` → `file`, `searching` → `search`. */
function commonForm(word: string): string {
  const stem = word.replace(/(?:ing|ies|ed|es|(?<!s)s)$/u, '');
  const form = stem.length < 3 ? word : stem;
  return SYNONYMS[form] ?? SYNONYMS[word] ?? form;
}

/** The beginning that words of one family share: summary, summarize. */
const FAMILY_LENGTH = 6;

export function sameWord(a: string, b: string): boolean {
  if (a === b || `${a}e` === b || `${b}e` === a) return true;
  return (
    a.length >= FAMILY_LENGTH && b.length >= FAMILY_LENGTH && a.slice(0, FAMILY_LENGTH) === b.slice(0, FAMILY_LENGTH)
  );
}
