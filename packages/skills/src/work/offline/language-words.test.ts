import { languageNamed } from './language-words.js';

describe('a language named in an answer', () => {
  it.each([
    ['German', 'de'],
    ['german, please', 'de'],
    ['to French', 'fr'],
    ['de', 'de'],
    ['RU.', 'ru'],
    ['на английский', 'en'],
    ['по-русски', 'ru'],
    ['Französisch', 'fr'],
    ['not English but German', 'de'],
    ['Spanish', undefined],
    ['', undefined],
  ])('“%s” → %s', (words, code) => {
    expect(languageNamed(words)).toBe(code);
  });
});
