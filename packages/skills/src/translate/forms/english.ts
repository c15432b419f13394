import type { LanguageForms } from './forms.js';

/** Phrases of several words change in their last one (`pull requests`), verbs in their first (`looks for`). */
export const english: LanguageForms = {
  main(kind, [base, second, third, ...more]) {
    if (kind === 'noun') return [base, given(second) ?? inLast(base, plural)];
    if (kind !== 'verb') return [base];
    return [base, given(second) ?? inFirst(base, thirdPerson), given(third) ?? inFirst(base, past), ...more];
  },
  others(kind, [base, , , ...more]) {
    if (kind !== 'verb') return [];
    return [[inFirst(base, present), 0], ...more.map((form) => [form, 2] as const)];
  },
};

function given(form: string | undefined): string | undefined {
  return form === '' ? undefined : form;
}

function inLast(phrase: string, change: (word: string) => string): string {
  const at = phrase.lastIndexOf(' ') + 1;
  return phrase.slice(0, at) + change(phrase.slice(at));
}

function inFirst(phrase: string, change: (word: string) => string): string {
  const [first = '', ...others] = phrase.split(' ');
  return [change(first), ...others].join(' ');
}

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}

function thirdPerson(word: string): string {
  return word.endsWith('o') ? `${word}es` : plural(word);
}

/** One short vowel between consonants doubles the last: stop, stopped, stopping. */
function doubled(word: string): string {
  return /^[^aeiou]*[aeiou][^aeiouwxy]$/.test(word) ? word + word.slice(-1) : word;
}

function past(word: string): string {
  if (word.endsWith('e')) return `${word}d`;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ied`;
  return `${doubled(word)}ed`;
}

function present(word: string): string {
  if (/[^eoy]e$/.test(word) && word !== 'be') return `${word.slice(0, -1)}ing`;
  return `${doubled(word)}ing`;
}
