import type { HttpCase } from './expect-problem.js';

/** Values that no field of text, number or list takes, with what they are in words. */
export const oddValues: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['a number', 7],
  ['true', true],
  ['an object', { a: 1 }],
  ['a nested list', [['a']]],
];

const BODIES: readonly (readonly [string, unknown])[] = [
  ['broken JSON', '{"agent_id":'],
  ['two values', '{} {}'],
  ['a trailing comma', '{"a":1,}'],
  ['single quotes', "{'a':1}"],
  ['a list', '[]'],
  ['a text', '"x"'],
  ['a number', '1'],
  ['null', 'null'],
  ['an empty object', '{}'],
  ['NaN', '{"agent_id":NaN}'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark alone', '\uFEFF'],
  ['a reserved name', '{"__proto__":{"admin":true}}'],
  ['a constructor', '{"constructor":{"prototype":{"admin":true}}}'],
  ['deep nesting', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
];

/** Bodies that no route takes: not JSON, not an object, of another kind, too large, damaged on the way. */
export function badBodies(method: string, path: string): HttpCase[] {
  const one = (wrong: string, body: unknown, status: number, headers: Record<string, string> = {}): HttpCase => ({
    wrong,
    method,
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body,
    status,
  });
  return [
    ...BODIES.map(([wrong, body]) => one(`${wrong} as body`, body, 400)),
    one('no body', undefined, 400),
    one('a form', 'a=1', 415, { 'content-type': 'application/x-www-form-urlencoded' }),
    one('XML', '<a/>', 415, { 'content-type': 'text/xml' }),
    one('a foreign charset', '{}', 415, { 'content-type': 'application/json; charset=latin1' }),
    one('an unknown encoding', '{}', 415, { 'content-encoding': 'compress' }),
    one('broken gzip', 'not gzip', 400, { 'content-encoding': 'gzip' }),
    one('more than 64 KiB', { a: 'x'.repeat(66_000) }, 413),
  ];
}
