import fc from 'fast-check';
import { resultText } from './result-text.js';

const LIMIT = 10_000;
const text = (data: unknown, limit = LIMIT) => resultText(data, limit);

class Point {
  readonly x = 1;
  get y(): number {
    return this.x + 1;
  }
}

function cycle(): unknown {
  const value: Record<string, unknown> = { n: 1 };
  value['self'] = [value];
  return value;
}

function nested(depth: number): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('text of a result', () => {
  it.each<[string, unknown, string]>([
    ['a string as it is', 'say "hi"\n', 'say "hi"\n'],
    ['an empty string', '', ''],
    ['a number', 1.5, '1.5'],
    ['a boolean', true, 'true'],
    ['null', null, 'null'],
    ['nothing', undefined, 'null'],
    ['an object with blanks after its separators', { a: 1, b: [1, 2], c: {} }, '{"a": 1, "b": [1, 2], "c": {}}'],
    ['non-ASCII as it is', { name: 'Zoë 日本 😀' }, '{"name": "Zoë 日本 😀"}'],
    ['control characters escaped', { a: '\u0000\n"\\' }, String.raw`{"a": "\u0000\n\"\\"}`],
    ['undefined members left out, in lists as null', { a: undefined, b: [undefined] }, '{"b": [null]}'],
    ['numbers that JSON has not', [NaN, Infinity, -Infinity], '["NaN", "Infinity", "-Infinity"]'],
    ['big integers', { n: 123456789012345678901234567890n }, '{"n": "123456789012345678901234567890"}'],
    ['a symbol', [Symbol('s')], '["Symbol(s)"]'],
    ['a function without its source', [() => 'secret'], '["[function]"]'],
    ['a date', { at: new Date(0) }, '{"at": "1970-01-01T00:00:00.000Z"}'],
    ['an invalid date', [new Date(NaN)], '[null]'],
    ['a map', new Map([['a', 1]]), '{"a": 1}'],
    ['a set', new Set([1, 'b']), '[1, "b"]'],
    ['an error', [new TypeError('bad')], '["TypeError: bad"]'],
    ['a pattern', [/a+/u], '["/a+/u"]'],
    ['an address', [new URL('http://x.test/')], '["http://x.test/"]'],
    ['bytes', [new Uint8Array(5), new ArrayBuffer(2), Buffer.from('abc')], '["[5 bytes]", "[2 bytes]", "[3 bytes]"]'],
    ['boxed values', [new Number(1), new String('s'), new Boolean(false)], '[1, "s", false]'],
    ['an instance by its own properties', new Point(), '{"x": 1}'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), '{"a": 1}'],
    ['a cycle', cycle(), '{"n": 1, "self": ["[circular]"]}'],
    ['the same object twice', ((shared) => [shared, shared])({ a: 1 }), '[{"a": 1}, {"a": 1}]'],
    [
      'toJSON that throws',
      {
        a: {
          toJSON: () => {
            throw new Error('no');
          },
        },
      },
      '{"a": "[object Object]"}',
    ],
    [
      'toJSON that gives itself',
      ((self) => self)({
        a: 1,
        toJSON() {
          return this;
        },
      }),
      '{"a": 1}',
    ],
    [
      'a getter that throws',
      {
        ok: 1,
        bad: {
          get x(): number {
            throw new Error('no');
          },
        },
      },
      '{"ok": 1, "bad": "[object Object]"}',
    ],
    ['a revoked proxy', ((pair) => (pair.revoke(), [pair.proxy]))(Proxy.revocable({}, {})), '["[unreadable]"]'],
    ['lone surrogates', ['a\ud800b', { '\udc00': 1 }], '["a\ufffdb", {"\ufffd": 1}]'],
    ['a lone surrogate in a plain string', 'a\ud800', 'a\ufffd'],
  ])('shows %s', (_title, data, expected) => {
    expect(text(data)).toBe(expected);
  });

  it('cuts what is nested without end', () => {
    expect(text(nested(150))).toContain('core');
    expect(text(nested(50_000))).toContain('[nested too deeply]');
    const endless = { toJSON: () => ({ deeper: endless }) };
    expect(text(endless)).toContain('[circular]');
    const fresh = (): unknown => ({ toJSON: () => ({ deeper: fresh() }) });
    expect(text(fresh())).toContain('[nested too deeply]');
  });

  it('costs no more than its limit, however large the data', () => {
    let value: unknown = 'x';
    for (let level = 0; level < 60; level += 1) value = [value, value];
    for (const huge of [value, new Array(1e9), { a: 'x'.repeat(5e7) }]) {
      const shown = text(huge, 1_000);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(1_000);
      expect(shown.endsWith('\n[truncated: the result is larger than 1000 bytes]')).toBe(true);
    }
  });

  it('is cut between characters', () => {
    for (const unit of ['é', '日', '😀', 'a😀']) {
      for (let limit = 300; limit < 310; limit += 1) {
        const shown = text(unit.repeat(1_000), limit);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(limit);
        expect(Buffer.byteLength(shown)).toBeGreaterThan(limit - 4);
        expect(shown).not.toContain('\ufffd');
      }
    }
  });

  it('is not cut at exactly its limit', () => {
    expect(text('x'.repeat(300), 300)).toBe('x'.repeat(300));
    expect(text('x'.repeat(301), 300)).toContain('[truncated');
  });

  it('reads back as the data for everything that JSON holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(typeof value !== 'string');
        const expected = JSON.parse(JSON.stringify(value, (_key, part: unknown) => part)) as unknown;
        expect(JSON.parse(text(value, 1e9))).toEqual(expected);
      }),
      { seed: 20, numRuns: 300 },
    );
  });

  it('is well-formed and within its limit for anything', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withNullPrototype: true,
          withSparseArray: true,
        }),
        fc.integer({ min: 256, max: 600 }),
        (value, limit) => {
          const shown = text(value, limit);
          expect(shown.isWellFormed()).toBe(true);
          expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(limit);
        },
      ),
      { seed: 21, numRuns: 500 },
    );
  });
});
