import type { Slot, LanguageForms } from './forms.js';

/** Regular conjugation, declension by ending, endings of adjectives. What departs from it stands in the glossary. */
export const russian: LanguageForms = {
  main(kind, [base, second, third]) {
    if (kind === 'noun') return second === undefined ? [base] : [base, second];
    if (kind !== 'verb') return [base];
    return [base, given(second) ?? thirdPerson(base), given(third) ?? past(base)];
  },
  others(kind, main) {
    if (!/^[\p{L}-]+$/u.test(main[0])) return [];
    if (kind === 'noun') return nounCases(main[0], main[1]);
    if (kind === 'verb') return persons(main);
    return kind === 'adjective' ? adjectiveEndings(main[0]) : [];
  },
};

function given(form: string | undefined): string | undefined {
  return form === '' ? undefined : form;
}

type Forms = (readonly [string, Slot])[];

const withSlot = (slot: Slot, stem: string, endings: string): Forms =>
  endings.split(' ').map((ending) => [stem + (ending === '-' ? '' : ending), slot] as const);

/** Takes `-ся` off, changes the rest, and puts the right one of `-ся` and `-сь` back. */
function besidesReflexive(word: string, change: (word: string) => string): string {
  if (!/с[яь]$/u.test(word)) return change(word);
  const changed = change(word.slice(0, -2));
  return changed + (/[аеёиоуыэюя]$/u.test(changed) ? 'сь' : 'ся');
}

const PRESENT: readonly (readonly [infinitive: RegExp, third: string])[] = [
  [/овать$/u, 'ует'],
  [/ать$/u, 'ает'],
  [/ять$/u, 'яет'],
  [/ить$/u, 'ит'],
  [/еть$/u, 'еет'],
];

function thirdPerson(infinitive: string): string {
  return besidesReflexive(infinitive, (word) => {
    const rule = PRESENT.find(([ending]) => ending.test(word));
    return rule === undefined ? word : word.replace(rule[0], rule[1]);
  });
}

function past(infinitive: string): string {
  return besidesReflexive(infinitive, (word) => word.replace(/ть$/u, 'л'));
}

function persons([, third = '', past = '']: readonly [string, ...string[]]): Forms {
  const pasts = pastGenders(past);
  if (/[ёе]т(?:ся)?$/u.test(third)) return [...pasts, ...present(third, /[ёе]т(?=$|ся$)/u, 'ем ете ют ут', 'у ю')];
  if (/ит(?:ся)?$/u.test(third)) return [...pasts, ...present(third, /ит(?=$|ся$)/u, 'им ите ят ат', 'у ю')];
  return pasts;
}

function present(third: string, ending: RegExp, plurals: string, first: string): Forms {
  return [...plurals.split(' '), ...first.split(' ')].map((other) => {
    const form = third.replace(ending, other);
    return [/[аеёиоуыэюя]ся$/u.test(form) ? form.replace(/ся$/u, 'сь') : form, 0] as const;
  });
}

function pastGenders(past: string): Forms {
  const reflexive = past.endsWith('ся');
  const base = reflexive ? past.slice(0, -2) : past;
  if (!base.endsWith('л')) return ['ла', 'ло', 'ли'].map((ending) => [base + ending, 2] as const);
  const stem = base.endsWith('шёл') ? `${base.slice(0, -2)}л` : base;
  return ['а', 'о', 'и'].map((ending) => [stem + ending + (reflexive ? 'сь' : ''), 2] as const);
}

/** Case endings by the ending of the nominative; plural ones go to the stem of the plural, which may differ. */
const DECLENSIONS: readonly (readonly [ending: RegExp, cut: number, singular: string, plural: string])[] = [
  [/ия$/u, 1, 'и ю ей', 'й ям ями ях'],
  [/а$/u, 1, 'ы и е у ой ей', '- ам ами ах'],
  [/я$/u, 1, 'и е ю ей ёй', 'ь ей ям ями ях'],
  [/[иь]е$/u, 1, 'я ю ем и', 'й ям ями ях'],
  [/е$/u, 1, 'я ю ем', 'ей ям ями ях'],
  [/о$/u, 1, 'а у ом е', '- ам ами ах'],
  [/й$/u, 1, 'я ю ем е и', 'ев ям ями ях'],
  [/ь$/u, 1, 'я ю ем е и ью', 'ей ям ями ях'],
  [/[бвгджзклмнпрстфхцчшщ]$/u, 0, 'а у ом ем е', 'ов ев ей ам ами ах'],
];

function nounCases(singular: string, plural: string | undefined): Forms {
  const declension = DECLENSIONS.find(([ending]) => ending.test(singular));
  if (declension === undefined) return [];
  const [, cut, singularEndings, pluralEndings] = declension;
  const stem = cut === 0 ? singular : singular.slice(0, -cut);
  const pluralStem = plural === undefined || !/[аеиыя]$/u.test(plural) ? stem : plural.slice(0, -1);
  // `список, списка, списки`: the vowel that flees does so in all cases but the first.
  const hasFleeting = cut === 0 && pluralStem.length < stem.length;
  return [...withSlot(0, hasFleeting ? pluralStem : stem, singularEndings), ...withSlot(1, pluralStem, pluralEndings)];
}

/** Masculine although they end in a soft sign, besides those in `-тель` and `-арь`. */
const SOFT_MASCULINE = new Set(['день', 'дождь', 'корень', 'путь', 'рубль', 'уровень']);
const MASCULINE_IN_VOWEL = new Set(['кофе', 'мужчина', 'папа']);

/** Of a noun in the nominative singular, by its ending; of several words the first that is no adjective tells. */
export function russianGender(noun: string): 'm' | 'f' | 'n' {
  const words = noun.split(' ');
  const head = words.find((word) => !/(?:ый|[кг]ий|ая|ое|ной|вой)$/u.test(word)) ?? noun;
  if (MASCULINE_IN_VOWEL.has(head)) return 'm';
  if (head.endsWith('мя')) return 'n';
  if (/[ая]$/u.test(head)) return 'f';
  if (/[оеё]$/u.test(head)) return 'n';
  if (!head.endsWith('ь')) return 'm';
  return SOFT_MASCULINE.has(head) || /(?:тель|арь)$/u.test(head) ? 'm' : 'f';
}

/** The adjective in the nominative, for a noun's gender, `p` for the plural; what is no adjective does not change. */
export function russianAdjective(base: string, gender: 'm' | 'f' | 'n' | 'p'): string {
  const match = /^(?<stem>.*(?<last>\p{L}))(?<ending>ый|ий|ой)$/u.exec(base);
  const { stem = '', last = '', ending = '' } = match?.groups ?? {};
  if (stem === '' || gender === 'm') return base;
  const isSibilant = /[жчшщ]/u.test(last);
  const isSoft = ending === 'ий' && !isSibilant && !/[гкх]/u.test(last);
  if (gender === 'f') return stem + (isSoft ? 'яя' : 'ая');
  if (gender === 'n') return stem + (isSoft || (isSibilant && ending === 'ий') ? 'ее' : 'ое');
  return stem + (isSoft || isSibilant || /[гкх]/u.test(last) ? 'ие' : 'ые');
}

function adjectiveEndings(base: string): Forms {
  const match = /^(?<stem>.+)(?:ый|ий|ой)$/u.exec(base);
  const stem = match?.groups?.['stem'];
  if (stem === undefined) return [];
  const all = 'ый ий ая яя ое ее ые ие ого его ому ему ым им ом ем ой ей ую юю ых их ыми ими';
  return withSlot(0, stem, all);
}
