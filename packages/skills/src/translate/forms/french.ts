import type { Slot, LanguageForms } from './forms.js';

/** Plurals of nouns, the first conjugation, genders of adjectives. Other conjugations stand in the glossary. */
export const french: LanguageForms = {
  main(kind, [base, second, third]) {
    if (kind === 'noun') return [base, given(second) ?? (base.includes(' ') ? base : plural(base))];
    if (kind !== 'verb') return [base];
    const stem = base.endsWith('er') ? base.slice(0, -2) : undefined;
    const [present, perfect] = stem === undefined ? [base, base] : [`${stem}e`, `a ${stem}é`];
    return [base, given(second) ?? present, given(third) ?? perfect];
  },
  others(kind, main) {
    if (kind === 'verb') return persons(main);
    return kind === 'adjective' ? genders(main[0]) : [];
  },
};

function given(form: string | undefined): string | undefined {
  return form === '' ? undefined : form;
}

type Forms = (readonly [string, Slot])[];

function plural(word: string): string {
  if (/[sxz]$/.test(word)) return word;
  if (/(?:eau|eu|au)$/.test(word)) return `${word}x`;
  return word.endsWith('al') ? `${word.slice(0, -2)}aux` : `${word}s`;
}

function persons([infinitive, , past = '']: readonly [string, ...string[]]): Forms {
  const forms: Forms = [];
  const participle = /^(?:a|est|s'est) (?<word>\S+)$/.exec(past)?.groups?.['word'];
  if (participle !== undefined) {
    for (const ending of ['', 'e', 's', 'es']) forms.push([`${participle}${ending}`, 2]);
    forms.push([`ont ${participle}`, 2], [`ai ${participle}`, 2]);
  }
  if (/^\p{L}+er$/u.test(infinitive)) {
    const stem = infinitive.slice(0, -2);
    for (const ending of ['es', 'ons', 'ez', 'ent']) forms.push([`${stem}${ending}`, 0]);
    for (const ending of ['ait', 'aient', 'ais']) forms.push([`${stem}${ending}`, 2]);
  }
  return forms;
}

const IRREGULAR_FEMININE: Readonly<Record<string, string>> = {
  blanc: 'blanche',
  complet: 'complète',
  faux: 'fausse',
  long: 'longue',
  public: 'publique',
  vieux: 'vieille',
};

function feminine(word: string): string {
  const irregular = IRREGULAR_FEMININE[word];
  if (irregular !== undefined) return irregular;
  if (word.endsWith('e')) return word;
  if (word.endsWith('eux')) return `${word.slice(0, -1)}se`;
  if (word.endsWith('f')) return `${word.slice(0, -1)}ve`;
  if (word.endsWith('er')) return `${word.slice(0, -2)}ère`;
  if (/(?:el|en|on|as)$/.test(word)) return `${word}${word.slice(-1)}e`;
  return word.endsWith('eau') ? `${word.slice(0, -3)}elle` : `${word}e`;
}

function genders(base: string): Forms {
  return [
    [frenchAdjective(base, true, false), 0],
    [frenchAdjective(base, false, true), 0],
    [frenchAdjective(base, true, true), 0],
  ];
}

/** The adjective for a noun's gender and number; phrases do not change. */
export function frenchAdjective(base: string, isFeminine: boolean, isPlural: boolean): string {
  if (!/^\p{L}+$/u.test(base)) return base;
  const gendered = isFeminine ? feminine(base) : base;
  return isPlural ? plural(gendered) : gendered;
}
