import { globMatcher } from './glob.js';

describe('a glob', () => {
  it.each<[string, string[], string[]]>([
    ['*.ts', ['a.ts', 'src/a.ts', '.ts'], ['a.tsx', 'ats', 'a.ts/b']],
    ['src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'a.ts', 'lib/src/a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['srcx/a.ts', 'lib/a.ts']],
    ['**/test/**', ['test/a', 'x/test/a/b'], ['test', 'tests/a']],
    ['**', ['a', 'a/b'], []],
    ['./src/a', ['src/a'], ['a']],
    ['a?c', ['abc', 'a.c'], ['ac', 'abbc']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['[]x]', [']', 'x'], ['a']],
    ['*.{js,ts}', ['a.js', 'a.ts'], ['a.jts', 'a.{js,ts}']],
    ['{a,b}/{c,d/**}', ['a/c', 'b/d/e/f'], ['a/d', 'c/c']],
    ['a,b', ['a,b'], ['a', 'b']],
    ['a}', ['a}'], ['a']],
    ['a.b+c(d)$^|', ['a.b+c(d)$^|'], ['axb+c(d)$^|']],
    ['\\*', ['*'], ['a']],
    ['[', ['['], ['a']],
    ['ä😀?', ['ä😀x'], ['ä']],
  ])('%s', (glob, matching, others) => {
    const matches = globMatcher(glob);
    for (const path of matching) expect([path, matches(path)]).toStrictEqual([path, true]);
    for (const path of others) expect([path, matches(path)]).toStrictEqual([path, false]);
  });

  it.each(['a{b', '{', '[z-a]', 'x'.repeat(501)])('that cannot be read is refused: %.10s', (glob) => {
    expect(() => globMatcher(glob)).toThrow("'glob'");
  });

  it('cannot take long', () => {
    const matches = globMatcher(`${'*a'.repeat(200)}b`);
    const begun = performance.now();
    expect(matches('a'.repeat(4_000))).toBe(false);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });
});
