import { parseExact } from '@parley/proxy-protocol';
import type { Json } from './facts.js';
import { quote, quoteValue } from './python-repr.js';

describe('quote', () => {
  it.each([
    ['plain', "'plain'"],
    ['', "''"],
    ["it's", `"it's"`],
    [`it's "x"`, `'it\\'s "x"'`],
    ['x"y', `'x"y'`],
    ['a\nb\r\t\\', "'a\\nb\\r\\t\\\\'"],
    ['\0\u001b\u007f\u00a0\u200b\u{e0001}', "'\\x00\\x1b\\x7f\\xa0\\u200b\\U000e0001'"],
    ['é你🙂 x', "'é你🙂 x'"],
    ['\ud800', "'\\ud800'"],
  ])('writes %j as Python does', (value, wanted) => {
    expect(quote(value)).toBe(wanted);
  });

  it('cuts what is long, between characters', () => {
    expect(quote('🙂'.repeat(200))).toBe(`'${'🙂'.repeat(200)}'`);
    expect(quote('🙂'.repeat(201))).toBe(`'${'🙂'.repeat(200)}'…`);
    expect(quote('x'.repeat(10_000_000))).toBe(`'${'x'.repeat(200)}'…`);
  });
});

describe('quoteValue', () => {
  it.each<[Json, string]>([
    [null, 'None'],
    [true, 'True'],
    [false, 'False'],
    [-2.5, '-2.5'],
    [[], '[]'],
    [{}, '{}'],
    [[1, 'two', [null]], "[1, 'two', [None]]"],
    [{ a: [1, 2.5, null, true, 'x'], b: {} }, "{'a': [1, 2.5, None, True, 'x'], 'b': {}}"],
    [parseExact('123456789012345678901234567890'), '123456789012345678901234567890'],
  ])('writes %j as Python does', (value, wanted) => {
    expect(quoteValue(value)).toBe(wanted);
  });

  it('cuts at 200 characters, whatever is nested, wide or long', () => {
    let deep: Json = 1;
    for (let n = 0; n < 100_000; n += 1) deep = [deep];
    const wide = Array.from({ length: 1_000_000 }, () => 'xy');
    for (const value of [deep, wide, 'z'.repeat(1_000_000), { ['k'.repeat(1_000_000)]: wide }, ['🙂'.repeat(999)]]) {
      const text = quoteValue(value);
      expect(Array.from(text)).toHaveLength(200);
      expect(text.isWellFormed()).toBe(true);
    }
    expect(quoteValue(wide)).toBe(`[${"'xy', ".repeat(40)}`.slice(0, 200));
  });
});
