import type { Slot, LanguageForms } from './forms.js';

/** Weak verbs, cases of nouns, endings of adjectives. Strong forms stand in the glossary. */
export const german: LanguageForms = {
  main(kind, [base, second, third, ...more]) {
    if (kind === 'noun') return second === undefined ? [base] : [base, second];
    if (kind !== 'verb') return [base];
    return [base, given(second) ?? thirdPerson(base), given(third) ?? past(base), ...more];
  },
  others(kind, main) {
    if (kind === 'noun') return nounCases(main);
    if (kind === 'verb') return persons(main);
    return kind === 'adjective' ? adjectiveEndings(main[0]) : [];
  },
};

function given(form: string | undefined): string | undefined {
  return form === '' ? undefined : form;
}

/** Only words that stand alone: of phrases no form but the given is recognised. */
function isOneWord(word: string): boolean {
  return /^[\p{L}-]+$/u.test(word);
}

function stemOf(infinitive: string): string | undefined {
  if (!isOneWord(infinitive)) return undefined;
  return /(?:en|[lr]n)$/.test(infinitive) ? infinitive.replace(/e?n$/, '') : undefined;
}

/** arbeiten, öffnen, rechnen: without an e in between nobody could say it. */
function linking(stem: string): string {
  return /(?:[td]|[^aeiouäöürlhmn][mn])$/u.test(stem) ? `${stem}e` : stem;
}

function thirdPerson(infinitive: string): string {
  const stem = stemOf(infinitive);
  return stem === undefined ? infinitive : `${linking(stem)}t`;
}

function past(infinitive: string): string {
  const stem = stemOf(infinitive);
  return stem === undefined ? infinitive : `${linking(stem)}te`;
}

type Forms = (readonly [string, Slot])[];

function persons([infinitive, , past = '', ...more]: readonly [string, ...string[]]): Forms {
  const stem = stemOf(infinitive);
  if (stem === undefined) return [];
  const forms: Forms = [
    [`${stem}e`, 0],
    [`${linking(stem)}st`, 1],
    [past.endsWith('e') ? `${past}n` : `${past}en`, 2],
    ...more.map((form) => [form, 2] as const),
  ];
  if (past === `${linking(stem)}te`) forms.push([weakParticiple(stem, infinitive), 2]);
  return forms;
}

function weakParticiple(stem: string, infinitive: string): string {
  const isWithoutGe = infinitive.endsWith('ieren') || /^(?:be|emp|ent|er|ge|miss|über|ver|zer)/u.test(infinitive);
  return `${isWithoutGe ? '' : 'ge'}${linking(stem)}t`;
}

function nounCases([singular, plural]: readonly [string, ...string[]]): Forms {
  if (!isOneWord(singular)) return [];
  const forms: Forms = [
    [`${singular}s`, 0],
    [`${singular}es`, 0],
  ];
  if (plural !== undefined && !/[ns]$/.test(plural)) forms.push([`${plural}n`, 1]);
  return forms;
}

function adjectiveEndings(base: string): Forms {
  if (!isOneWord(base)) return [];
  return ['e', 'en', 'er', 'es', 'em'].map((ending) => [germanAdjective(base, ending), 0] as const);
}

/** `schön` and `e` make `schöne`; phrases do not change. */
export function germanAdjective(base: string, ending: string): string {
  if (!isOneWord(base)) return base;
  return (base === 'hoch' ? 'hoh' : base.replace(/e$/, '')) + ending;
}
