import { parseRequirement, parseRequirements, QueryRefusal } from './query.js';
import { compileRange } from './version-range.js';

test('a requirement is a name, or a name and a range', () => {
  expect(parseRequirement('code_review')).toEqual({ name: 'code_review' });
  const { name, range } = parseRequirement('ns:a/b.c-d@>=1.2 <3');
  expect(name).toBe('ns:a/b.c-d');
  expect(range?.text).toBe('>=1.2 <3');
  expect(range?.test('2.9.9')).toBe(true);
  expect(range?.test('3.0.0')).toBe(false);
});

test.each([
  ['', 'invalid_capability'],
  ['two words', 'invalid_capability'],
  ['a'.repeat(65), 'invalid_capability'],
  ['@1', 'invalid_capability'],
  ['a@', 'invalid_range'],
  ['a@ ', 'invalid_range'],
  ['a@one', 'invalid_range'],
  ['a@1@2', 'invalid_range'],
  [`a@${'1'.repeat(200)}`, 'invalid_range'],
])('%j is refused with its place', (text, code) => {
  let refusal: unknown;
  try {
    parseRequirements(['fine', text]);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(QueryRefusal);
  expect(refusal).toMatchObject({ code, path: 'required_capabilities[1]' });
});

describe('pre-releases', () => {
  test.each([
    ['^1.2', '1.3.0-rc.1', true],
    ['1.3.0-rc.1', '1.3.0-rc.1', true],
    ['>=1.3.0-rc.1', '1.3.0-rc.2', true],
    ['^1.2.0', '1.2.0-alpha', false],
    ['^1', '2.0.0-alpha', false],
  ])('%s is satisfied by %s: %s', (range, version, satisfied) => {
    expect(compileRange(range)?.test(version)).toBe(satisfied);
  });

  test('no version, and something that is none, satisfy nothing', () => {
    expect(compileRange('*')?.test(undefined)).toBe(false);
    expect(compileRange('*')?.test('latest')).toBe(false);
  });
});
