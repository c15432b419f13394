import fc from 'fast-check';
import { MAX_SENTENCE_CHARS, splitSentences } from './sentences.js';

const texts = (source: string): string[] => splitSentences(source).map(({ text }) => text);

describe('splitSentences', () => {
  it.each([
    ['English', 'It works. Does it? Yes! Good…', ['It works.', 'Does it?', 'Yes!', 'Good…']],
    ['titles', 'Dr. Smith met Mrs. Jones. They talked.', ['Dr. Smith met Mrs. Jones.', 'They talked.']],
    ['initials', 'J. R. R. Tolkien wrote. A.S. Byatt read.', ['J. R. R. Tolkien wrote.', 'A.S. Byatt read.']],
    ['decimals', 'It costs 3.50 dollars. Version 1.2.3 is out.', ['It costs 3.50 dollars.', 'Version 1.2.3 is out.']],
    ['addresses', 'See example.com/a.b?c. Then go on.', ['See example.com/a.b?c.', 'Then go on.']],
    ['abbreviations', 'Use tools, e.g. Git, i.e. this. Fine.', ['Use tools, e.g. Git, i.e. this.', 'Fine.']],
    ['abbreviations at the end', 'Nuts, bolts, etc. The rest is here.', ['Nuts, bolts, etc.', 'The rest is here.']],
    ['times', 'Come at 5 p.m. We wait until 6 p.m. today.', ['Come at 5 p.m.', 'We wait until 6 p.m. today.']],
    ['quotes', '"Really?" she asked. "Yes." He left.', ['"Really?" she asked.', '"Yes."', 'He left.']],
    ['ellipses', 'Well... or not. Wait... Now go.', ['Well... or not.', 'Wait...', 'Now go.']],
    ['no capitals', 'hello there. how are you? fine.', ['hello there.', 'how are you?', 'fine.']],
    [
      'Russian',
      'Он жил на ул. Арбат, т.е. в центре. Родился в 1799 г. в Москве. Умер в 1837 г. Его помнят.',
      ['Он жил на ул. Арбат, т.е. в центре.', 'Родился в 1799 г. в Москве.', 'Умер в 1837 г.', 'Его помнят.'],
    ],
    ['Russian cities', 'Он из г. Москва. Да.', ['Он из г. Москва.', 'Да.']],
    ['Russian quotes', '«Правда?» — спросил он. «Да!» Он ушёл.', ['«Правда?» — спросил он.', '«Да!»', 'Он ушёл.']],
    [
      'Russian prices',
      'Цена 3,5 тыс. руб. за шт. Купили и т. д. Потом ушли.',
      ['Цена 3,5 тыс. руб. за шт.', 'Купили и т. д.', 'Потом ушли.'],
    ],
    [
      'German',
      'Am 3. Oktober kam er, z.B. mit Dr. Meier. Es kostet ca. 3.000 Euro usw. Danach ging er.',
      ['Am 3. Oktober kam er, z.B. mit Dr. Meier.', 'Es kostet ca. 3.000 Euro usw.', 'Danach ging er.'],
    ],
    ['Chinese', '今天天气很好。我们去公园吧！好吗？好', ['今天天气很好。', '我们去公园吧！', '好吗？', '好']],
    ['Japanese quotes', '「はい。」と言った。次の文です。', ['「はい。」と言った。', '次の文です。']],
  ])('splits %s', (_name, source, expected) => {
    expect(texts(source)).toEqual(expected);
  });

  it('ends a sentence at blank lines, headings and list items, not at line ends', () => {
    const source =
      '# A title\r\nA line\r\nthat goes on\r\n\r\nNew paragraph\r\n- first item\r\n- second\r\n1. Third item';
    expect(texts(source)).toEqual([
      '# A title',
      'A line\r\nthat goes on',
      'New paragraph',
      '- first item',
      '- second',
      '1. Third item',
    ]);
  });

  it('marks headings and openings of paragraphs', () => {
    expect(
      splitSentences('# Title\nOne. Two.\n\nThree.').map(({ isHeading, opensParagraph }) => [
        isHeading,
        opensParagraph,
      ]),
    ).toEqual([
      [true, true],
      [false, true],
      [false, false],
      [false, true],
    ]);
  });

  it('cuts text without a full stop at a space, and never inside a character', () => {
    const words = texts('word '.repeat(1_000));
    expect(words.length).toBeGreaterThan(4);
    expect(words.every((text) => text.length <= MAX_SENTENCE_CHARS && /^word.*word$/.test(text))).toBe(true);
    const emoji = texts(`x${'😀'.repeat(2_000)}`);
    expect(emoji.join('')).toBe(`x${'😀'.repeat(2_000)}`);
    expect(emoji.every((text) => text.isWellFormed())).toBe(true);
  });

  it.each([[''], [' \n\t\r\n '], ['\u2028\u2029']])('finds nothing in %p', (source) => {
    expect(texts(source)).toEqual([]);
  });

  it('loses nothing but white space, and says truly where a sentence stands', () => {
    const chunk = fc.constantFrom(
      'Dr. ',
      'A',
      'b ',
      '. ',
      '! ',
      '?',
      '…',
      '。',
      '」',
      '\n',
      '\n\n',
      '\r\n',
      '- ',
      '# ',
      '3',
      '.5 ',
      'т.е. ',
      '"',
      '\ud83d',
      '😀',
      '. A',
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 60 }), (chunks) => {
        const source = chunks.join('');
        let rest = 0;
        for (const { start, end, text } of splitSentences(source)) {
          expect(source.slice(start, end)).toBe(text);
          expect(source.slice(rest, start).trim()).toBe('');
          expect(text.trim()).toBe(text);
          rest = end;
        }
        expect(source.slice(rest).trim()).toBe('');
      }),
    );
  });
});
