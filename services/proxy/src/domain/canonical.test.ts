import { parseExact } from '@parley/proxy-protocol';
import fc from 'fast-check';
import { canonicalText } from './canonical.js';
import type { Json } from './facts.js';

const text = (json: string): string => canonicalText(parseExact(json));

/** Equality as it is meant, without any text: numbers by value, whole ones of any size exactly. */
function isEqual(one: Json, other: Json): boolean {
  if (typeof one !== 'object' || one === null) return one === other;
  if (typeof other !== 'object' || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const left = Object.entries(one);
  const right = new Map<string, Json>(Object.entries(other));
  return (
    left.length === right.size &&
    left.every(([name, value]) => {
      const there = right.get(name);
      return there !== undefined && isEqual(value, there);
    })
  );
}

const small: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, -0, 1, 1.5, 1e21, '', '1', 'true', 'é', '\ud800'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '1', '__proto__'), tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** The same value, its members in the opposite order. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, turned(item)]),
  );
}

describe('canonicalText', () => {
  it('is equal exactly for equal values', () => {
    fc.assert(
      fc.property(small, small, (one, other) => (canonicalText(one) === canonicalText(other)) === isEqual(one, other)),
      { numRuns: 2000 },
    );
  });

  it('does not depend on the order of members', () => {
    fc.assert(fc.property(small, (value) => canonicalText(value) === canonicalText(turned(value))));
  });

  it.each([
    ['1', '1.0'],
    ['1000', '1e3'],
    ['0', '-0'],
    ['0', '-0.0'],
    ['{"a":[1,{"b":2}]}', '{"a":[1.0,{"b":2.00}]}'],
    ['9007199254740992', '9007199254740992.0'],
    ['10000000000000000000000', '1e22'],
    ['0.1', '0.1000000000000000055511151231257827'],
    ['{"b":1,"a":2}', ' { "a" : 2 , "b" : 1 } '],
    ['"\\u00e9"', '"é"'],
  ])('takes %s and %s for the same', (one, other) => {
    expect(text(one)).toBe(text(other));
  });

  it.each([
    ['1', 'true'],
    ['0', 'false'],
    ['1', '"1"'],
    ['null', '{}'],
    ['{}', '{"a":null}'],
    ['[1,2]', '[2,1]'],
    ['[]', '{}'],
    ['[[1],2]', '[[1,2]]'],
    ['9007199254740993', '9007199254740992'],
    ['9007199254740993', '9007199254740993.0'],
    ['123456789012345678901', '123456789012345678902'],
  ])('tells %s and %s apart', (one, other) => {
    expect(text(one)).not.toBe(text(other));
  });

  it('needs no stack for depth', () => {
    let deep: Json = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(canonicalText(deep)).toHaveLength(200_001);
  });
});
