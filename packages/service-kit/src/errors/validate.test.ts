import { z } from 'zod';
import { AppError } from './app-error.js';
import { formatPath, validate } from './validate.js';

function refusal(schema: z.ZodType, input: unknown): AppError {
  try {
    validate(schema, input);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const paths = (schema: z.ZodType, input: unknown): string[] => refusal(schema, input).errors.map(({ path }) => path);

describe('the path of a field', () => {
  it.each([
    [[], ''],
    [['name'], 'name'],
    [['capabilities', 2], 'capabilities[2]'],
    [['labels', 'eu-west'], 'labels.eu-west'],
    [['labels', 'x y'], 'labels["x y"]'],
    [['labels', 'a.b"c'], 'labels["a.b\\"c"]'],
    [['a', 0, 1, 'b'], 'a[0][1].b'],
    [[''], '[""]'],
    [[3], '[3]'],
  ] as const)('%j is written %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });

  it('stays short and well-formed whatever a caller calls a field', () => {
    expect(formatPath(['k'.repeat(60_000)])).toHaveLength(64);
    expect(formatPath(Array.from({ length: 1_000 }, () => 'abcdefgh')).length).toBeLessThan(300);
    expect(formatPath([`${'x'.repeat(63)}\u{1F600}`]).isWellFormed()).toBe(true);
  });
});

describe('validate', () => {
  const details = z.strictObject({ version: z.string().optional(), size: z.int().optional() });
  const capabilities = z.union([z.array(z.string()), z.record(z.string(), z.union([z.string(), details]))]);
  const shape = z.strictObject({ kind: z.literal('circle'), radius: z.number() });
  const square = z.strictObject({ kind: z.literal('square'), side: z.number() });

  it('gives back what the schema made of the input', () => {
    expect(validate(z.strictObject({ n: z.coerce.number() }), { n: '7' })).toEqual({ n: 7 });
  });

  it('names every wrong field, in arrays too', () => {
    const schema = z.strictObject({ names: z.array(z.string()), size: z.int().max(3) });
    expect(paths(schema, { names: ['a', 5, 'c', null], size: 9 })).toEqual(['names[1]', 'names[3]', 'size']);
  });

  it('says in the sentence what is wrong first and how much more', () => {
    const error = refusal(z.strictObject({ a: z.string(), b: z.string() }), {});
    expect(error.message).toMatch(/^a: .* \(and 1 more\)$/);
    expect(refusal(z.string(), 5).message).toMatch(/^The request: /);
  });

  it('refuses unknown fields by name', () => {
    expect(refusal(z.strictObject({ a: z.strictObject({}) }), { a: { typo: 1, 'x y': 2 }, b: 3 }).errors).toEqual([
      { path: 'a.typo', message: 'unknown field' },
      { path: 'a["x y"]', message: 'unknown field' },
      { path: 'b', message: 'unknown field' },
    ]);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])('refuses %s as unknown', (name) => {
    const input: unknown = JSON.parse(`{"a":"x","${name}":{"polluted":true}}`);
    expect(paths(z.strictObject({ a: z.string() }), input)).toEqual([name]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('never takes a prototype from names in an open map', () => {
    const input: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    const out = validate(z.record(z.string(), z.unknown()), input);
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype);
    expect(out['polluted']).toBeUndefined();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('names a wrong key of a map', () => {
    const schema = z.strictObject({ labels: z.record(z.string().regex(/^[a-z]+$/, 'must be lower case'), z.string()) });
    expect(refusal(schema, { labels: { 'A B': 'x' } }).errors).toEqual([
      { path: 'labels["A B"]', message: 'the name: must be lower case' },
    ]);
  });

  describe('of a union, explains the branch that was meant', () => {
    it.each([
      ['a list with a wrong item', ['a', 5], ['[1]']],
      ['a map with an unknown detail', { a: { versio: '1' } }, ['a.versio']],
      ['a map with a wrong detail', { a: { version: '1' }, b: { size: 'x' } }, ['b.size']],
    ])('%s', (_, input, expected) => {
      expect(paths(capabilities, input)).toEqual(expected);
    });

    it('by its tag', () => {
      expect(paths(z.union([shape, square]), { kind: 'square', side: 'x' })).toEqual(['side']);
      expect(paths(z.union([square, shape]), { kind: 'circle', radius: 'x', extra: 1 })).toEqual(['radius', 'extra']);
      expect(paths(z.discriminatedUnion('kind', [shape, square]), { kind: 'line' })).toEqual(['kind']);
    });

    it('by its type when the value itself is out of bounds', () => {
      const schema = z.union([z.string(), z.int().min(10, 'at least 10')]);
      expect(refusal(schema, 5).errors).toEqual([{ path: '', message: 'at least 10' }]);
    });

    it('or what would have been possible when none was', () => {
      expect(refusal(z.strictObject({ c: capabilities }), { c: 5 }).errors).toEqual([
        { path: 'c', message: 'Invalid input: expected array or object' },
      ]);
      expect(refusal(capabilities, { a: 5 }).errors).toEqual([
        { path: 'a', message: 'Invalid input: expected string or object' },
      ]);
    });
  });

  it('lists at most 32 fields and counts the rest', () => {
    const error = refusal(
      z.array(z.string()),
      Array.from({ length: 100 }, () => 1),
    );
    expect(error.errors).toHaveLength(32);
    expect(error.message).toContain('(and 99 more)');
  });

  it('answers input that is nothing but brackets with a refusal, not a stack overflow', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(refusal(z.json(), deep)).toMatchObject({ reason: 'invalid_request' });
  });

  it('lets the faults of a schema through', () => {
    const broken = z.string().transform(() => {
      throw new TypeError('a bug');
    });
    expect(() => validate(broken, 'x')).toThrow(TypeError);
  });
});
