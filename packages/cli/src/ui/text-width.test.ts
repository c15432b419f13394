import fc from 'fast-check';
import { graphemes, truncate, widthOf, wrapLine } from './text-width.js';

describe('widthOf', () => {
  it.each([
    ['abc', 3],
    ['', 0],
    ['日本語', 6],
    ['한국', 4],
    ['ｆｕｌｌ', 8],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['a\u200bb', 2],
  ])('%s', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });
});

describe('truncate', () => {
  it('says that something is missing, and keeps to the width', () => {
    expect(truncate('abcdef', 6)).toBe('abcdef');
    expect(truncate('abcdefg', 6)).toBe('abcde…');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncate('abc', 0)).toBe('');
  });
});

describe('wrapLine', () => {
  it('breaks between words', () => {
    expect(wrapLine('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
  });

  it('breaks a word that is longer than a row', () => {
    expect(wrapLine('ab abcdefghij', 4)).toEqual(['ab', 'abcd', 'efgh', 'ij']);
  });

  it('keeps the blanks at the beginning', () => {
    expect(wrapLine('    deep', 20)).toEqual(['    deep']);
  });

  it('does not cut a wide character in two', () => {
    expect(wrapLine('日本語日本語', 5)).toEqual(['日本', '語日', '本語']);
  });

  it('never makes a row too wide, and loses nothing but blanks', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '日', '👍', 'é'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 2, max: 20 }), (words, width) => {
        const rows = wrapLine(words.join(' '), width);
        for (const row of rows) expect(widthOf(row.trimEnd())).toBeLessThanOrEqual(width);
        expect(graphemes(rows.join('').replaceAll(' ', ''))).toEqual(graphemes(words.join('')));
      }),
    );
  });
});
