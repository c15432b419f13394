import fc from 'fast-check';
import { JsonError } from './json-error.js';
import { parseExact } from './parse-exact.js';
import { numberOf } from './raw-json.js';

/** Numbers as programs of any language may write them. */
const numberText = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?$/),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,16})(\.0{0,8}[0-9]{1,6})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', 'false', '""', '[]', '{}'),
    numberText,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    tie('array'),
    tie('object'),
  ),
  array: fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
  object: fc
    // Names that are whole numbers would be put first by every JavaScript object.
    .uniqueArray(
      fc.tuple(
        fc.oneof(
          fc.string().map((name) => `n${name}`),
          fc.constant('__proto__'),
        ),
        tie('value'),
      ),
      {
        maxLength: 5,
        selector: ([name]) => name,
      },
    )
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
})).value;

const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/);

describe('parseExact', () => {
  it('gives every text back as it was', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(JSON.stringify(parseExact(text))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives every number back as it was, wherever it stands', () => {
    fc.assert(
      fc.property(numberText, space, space, (number, before, after) => {
        for (const [left, right] of [
          ['', ''],
          ['[', ']'],
          ['{"a":', '}'],
          ['["x",', ',1]'],
        ] as const) {
          const text = `${left}${number}${right}`;
          expect(JSON.stringify(parseExact(`${left}${before}${number}${after}${right}`))).toBe(text);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with JSON.parse on what is JSON, apart from the words of Python', () => {
    const mangled = fc
      .tuple(
        jsonText,
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', ':', '-', '.', 'e', '0', '}', ']', '\u0001', ' ', '+'),
      )
      .map(([text, place, put]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + put + text.slice(at + (place % 2));
      });
    fc.assert(
      fc.property(mangled, (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseExact(text)).toThrow(JsonError);
          return;
        }
        expect(JSON.parse(JSON.stringify(parseExact(text)))).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it('leaves numbers plain that a double prints as they were written', () => {
    expect(parseExact('[0,-1,0.5,3.14,1764484800.123456,0.000001,123456789012345]')).toEqual([
      0, -1, 0.5, 3.14, 1764484800.123456, 0.000001, 123456789012345,
    ]);
    expect(parseExact('9007199254740991')).toBe(9007199254740991);
  });

  it.each([
    '9007199254740993',
    '12345678901234567890',
    '1.0',
    '-0',
    '-0.0',
    '1e5',
    '1E+2',
    '0.0000001',
    '1e400',
    '1.10',
  ])('keeps %s as its text', (text) => {
    const value = parseExact(text);
    expect(JSON.isRawJSON(value)).toBe(true);
    expect(numberOf(value)).toBe(Number(text));
  });

  it('lets the last of two members with one name win, beside an exact number too', () => {
    expect(parseExact('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
    expect(JSON.stringify(parseExact('{"a":1,"b":2.0,"a":3}'))).toBe('{"a":3,"b":2.0}');
  });

  it.each(['{"__proto__":{"polluted":1},"x":2}', '{"__proto__":{"polluted":1.0},"x":2}'])(
    'takes __proto__ as an ordinary name: %s',
    (text) => {
      const value = parseExact(text) as Record<string, unknown>;
      expect(Object.keys(value)).toEqual(['__proto__', 'x']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(value['polluted']).toBeUndefined();
      expect(JSON.stringify(value)).toBe(text);
    },
  );

  it('takes the numbers that only Python writes, unless told not to', () => {
    expect(parseExact('{"a":[NaN,Infinity,-Infinity]}')).toEqual({ a: [NaN, Infinity, -Infinity] });
    expect(() => parseExact('[NaN]', { nonFinite: false })).toThrow(new JsonError('syntax', 'not JSON at character 1'));
    expect(() => parseExact('[-NaN]')).toThrow(JsonError);
    expect(() => parseExact('[nan]')).toThrow(JsonError);
  });

  it.each([
    '',
    ' ',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '01',
    '1.',
    '.5',
    '+1',
    '"\u0001"',
    '"\\x"',
    '1 2',
    '"abc',
    'tru',
  ])('refuses %j', (text) => {
    expect(() => parseExact(text)).toThrow(JsonError);
  });

  it('quotes nothing of the text', () => {
    expect(() => parseExact('{"token":"s3cret", oops}')).toThrow(new JsonError('syntax', 'not JSON at character 19'));
  });

  it('takes what is nested as deeply as allowed and refuses one level more', () => {
    const nested = (depth: number, inner: string): string =>
      '[{"a":'.repeat(depth / 2) + inner + '}]'.repeat(depth / 2);
    for (const inner of ['1', '1.0']) {
      expect(JSON.stringify(parseExact(nested(512, inner)))).toBe(nested(512, inner));
      expect(() => parseExact(nested(514, inner))).toThrow(
        new JsonError('depth', 'JSON nested more than 512 levels deep'),
      );
    }
    expect(() => parseExact('[[1.0]]', { maxDepth: 1 })).toThrow(JsonError);
    expect(() => parseExact('[[1]]', { maxDepth: 1 })).toThrow(JsonError);
  });

  it('does not take brackets for depth that lie beside each other or in a string', () => {
    const flat = `[${Array.from({ length: 600 }, () => '[]').join(',')}]`;
    expect(parseExact(flat)).toHaveLength(600);
    const quoted = JSON.stringify(`\\"${'['.repeat(2000)}`);
    expect(parseExact(quoted)).toBe(`\\"${'['.repeat(2000)}`);
  });

  it('refuses a hundred thousand levels at once, also as ones that never close', () => {
    expect(() => parseExact('['.repeat(100_000))).toThrow(
      new JsonError('depth', 'JSON nested more than 512 levels deep'),
    );
    expect(() => parseExact('{"a":'.repeat(100_000))).toThrow(JsonError);
  });

  it('bounds the length of a number', () => {
    const digits = '9'.repeat(4300);
    expect(JSON.stringify(parseExact(digits))).toBe(digits);
    expect(() => parseExact(`${digits}9`)).toThrow(new JsonError('number', 'a number is longer than 4300 characters'));
  });

  it('keeps lone surrogates', () => {
    expect(parseExact('["\\ud83d",1.0]')).toEqual(['\ud83d', expect.anything()]);
  });
});
