import fc from 'fast-check';
import { tokenize, type TokenKind } from './tokens.js';

const tokens = (text: string, kind: TokenKind): string[] =>
  [...tokenize(text)].filter((token) => token.kind === kind).map((token) => token.text);

describe('tokenize', () => {
  it.each([
    ['https://example.com/a?b=1&c=%20#d'],
    ['http://localhost:8000/discover?capabilities=code_review'],
    ['ftp://files.example.com'],
    ['www.example.com/index.html'],
    ['some.body+tag@mail.example.com'],
    ['`const a = the agent;`'],
    ['```ts\nthe agent\n```'],
    ['<div class="agent">'],
    ['</b>'],
    ['{name}'],
    ['${agent.name}'],
    ['{{ agent }}'],
    ['%s'],
    ['/etc/hosts'],
    ['./src/index.ts'],
    ['~/agent'],
    ['--max-findings'],
    ['@parley/agent'],
    ['index.ts'],
    ['agent.run()'],
    ['3.50'],
    ['1,000,000.5'],
    ['10:30'],
    ['2026-11-29'],
    ['v1.2.3'],
    ['64KiB'],
    ['0x1F'],
    ['snake_case'],
    ['camelCase'],
    ['x86-64'],
  ])('keeps %s whole', (kept) => {
    expect(tokens(`(the ${kept}) agent, ${kept}!`, 'kept')).toEqual([kept, kept]);
    expect(tokens(`${kept}.`, 'kept')).toEqual([kept]);
  });

  it.each([
    ["don't stop", ["don't", 'stop']],
    ['l’agent', ['l’agent']],
    ['built-in or and/or', ['built-in', 'or', 'and', 'or']],
    ['a < b and c > d', ['a', 'b', 'and', 'c', 'd']],
    ['Ёлка — ёлка', ['Ёлка', 'ёлка']],
    ['e\u0301te\u0301', ['e\u0301te\u0301']],
    ['GitHub', ['GitHub']],
    ['well--then', ['well', 'then']],
  ])('finds the words of %p', (text, words) => {
    expect(tokens(text, 'word')).toEqual(words);
  });

  it('leaves punctuation behind an address to the sentence', () => {
    expect(tokens('See (https://example.com/a_(b)), https://example.com/.', 'kept')).toEqual([
      'https://example.com/a_(b',
      'https://example.com/',
    ]);
  });

  it('loses nothing', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '`',
        '```',
        '<a',
        'http://',
        '@',
        '.',
        '--',
        '{',
        '\ud800',
        '\r\n',
        '/',
        "'",
        'агент',
        'a1',
        '😀',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        expect([...tokenize(text)].map((token) => token.text).join('')).toBe(text);
      }),
    );
  });
});
