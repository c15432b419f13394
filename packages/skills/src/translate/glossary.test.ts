import { parseCell } from './forms/cell.js';
import { EN_DE } from './glossary/en-de/glossary.js';
import { EN_FR } from './glossary/en-fr/glossary.js';
import { EN_RU } from './glossary/en-ru/glossary.js';
import { WORD_KINDS } from './glossary/row.js';

describe.each([
  ['ru', EN_RU, /^[\p{Script=Cyrillic}\s…—-]+$/u],
  ['de', EN_DE, /^[\p{Script=Latin}\s-]+$/u],
  ['fr', EN_FR, /^[\p{Script=Latin}\s'-]+$/u],
] as const)('the glossary en-%s', (language, glossary, alphabet) => {
  const rows = WORD_KINDS.flatMap((kind) => glossary[kind].map((row) => ({ kind, row })));

  it('has more than 400 entries', () => {
    expect(rows.length).toBeGreaterThan(400);
  });

  it('has one row for a meaning', () => {
    const keys = rows.map(({ kind, row }) => `${kind} ${row[0].split('/')[0] ?? ''}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  it('is written in the letters of its languages, without stray space', () => {
    for (const { kind, row } of rows) {
      const [english, ...others] = row;
      expect(english).toMatch(/^[A-Za-z'/ -]+$/);
      for (const cell of others) {
        for (const form of parseCell(cell, language, kind).forms.filter((text) => text !== '')) {
          expect(form).toMatch(alphabet);
          expect(form).toBe(form.trim());
        }
      }
    }
  });

  it('gives nouns their gender where the grammar needs it', () => {
    if (language === 'ru') return;
    const without = glossary.noun.filter(([, ...cells]) =>
      cells.some((cell) => parseCell(cell, language, 'noun').gender === undefined),
    );
    expect(without).toEqual([]);
  });
});
