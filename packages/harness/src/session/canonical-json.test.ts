import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';
import { SessionSerializationError } from './session-errors.js';

describe('canonical JSON', () => {
  it('sorts keys at every level and writes no blanks', () => {
    expect(canonicalJson({ b: [{ d: 1, c: null }], a: 'x y', 10: true, 9: false })).toBe(
      '{"10":true,"9":false,"a":"x y","b":[{"c":null,"d":1}]}',
    );
  });

  it('leaves undefined fields out', () => {
    expect(canonicalJson({ a: undefined, b: 1, c: undefined })).toBe('{"b":1}');
  });

  it('means the same as what JSON.stringify writes, and is the same for equal values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        const parsed = JSON.parse(text) as unknown;
        expect(parsed).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(parsed)).toBe(text);
      }),
    );
  });

  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  it.each([
    ['NaN', { a: Number.NaN }],
    ['an infinite number', [Infinity]],
    ['a function', { a: () => 1 }],
    ['a bigint', { a: 1n }],
    ['a list with a hole', [undefined]],
    ['a cycle', cycle],
  ])('refuses %s', (_name, value) => {
    expect(() => canonicalJson(value)).toThrow(SessionSerializationError);
  });
});
