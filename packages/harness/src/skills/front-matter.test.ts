import { readFrontMatter } from './front-matter.js';

function textOf(...lines: readonly string[]): string {
  return ['---', ...lines, '---', '# Body', ''].join('\n');
}

describe('readFrontMatter', () => {
  it.each<[string, string, string | null, string]>([
    ['plain values', textOf('name: notes', 'description: Write notes'), 'notes', 'Write notes'],
    ['no front matter', '# Title\n---\nname: x\n---\n', null, ''],
    ['an empty text', '', null, ''],
    ['empty front matter', textOf(), null, ''],
    ['comments only', textOf('# nothing'), null, ''],
    ['an empty name', textOf('name: ""', 'description:'), null, ''],
    ['Windows line ends', '---\r\nname: notes\r\ndescription: Write\r\n---\r\nBody', 'notes', 'Write'],
    ['blanks after the markers', '--- \nname: notes\n---\t\nBody', 'notes', ''],
    ['blanks around a name', textOf('name: "  notes "'), 'notes', ''],
    ['a folded description', textOf('description: >-', '  Write', '  notes'), null, 'Write notes'],
    ['a literal description', textOf('description: |', '  Write', '', '  notes'), null, 'Write notes'],
    ['a number as description', textOf('description: 5'), null, '5'],
    ['other keys', textOf('name: n', 'metadata:', '  a: [1, 2]', 'license: MIT'), 'n', ''],
    ['characters of a pattern', textOf('name: c++.(x)[y]*'), 'c++.(x)[y]*', ''],
    ['a date', textOf('name: "2026"', 'description: 2026-11-29'), '2026', '2026-11-29'],
  ])('reads %s', (_name, text, name, description) => {
    expect(readFrontMatter(text)).toEqual({ name, description });
  });

  it.each<[string, string[], string]>([
    ['in one line', ['description: Use this: when needed'], 'Use this: when needed'],
    ['at the end', ['description: Use when:'], 'Use when:'],
    [
      'in a line that goes on',
      ['description: Use this', '  when the user says: hello'],
      'Use this when the user says: hello',
    ],
    ['beside quotes', ['description: Say "x": y \\ z'], 'Say "x": y \\ z'],
    ['in another key', ['argument-hint: file: path', 'description: Plain'], 'Plain'],
  ])('understands an unquoted colon %s', (_name, lines, description) => {
    expect(readFrontMatter(textOf('name: notes', ...lines, 'version: 1'))).toEqual({ name: 'notes', description });
  });

  it.each<[string, string, RegExp]>([
    ['a list', textOf('- x'), /no mapping/u],
    ['a text', textOf('just text'), /no mapping/u],
    ['a number as name', textOf('name: 5'), /needs quotes/u],
    ['a number as name beside a loose description', textOf('name: 5', 'description: a: b'), /needs quotes/u],
    ['a truth value as name', textOf('name: true'), /needs quotes/u],
    ['a blank name', textOf('name: "  "'), /blank/u],
    ['a list as name', textOf('name: [a]'), /name is no single value/u],
    ['a mapping as description', textOf('description:', '  a: b'), /description is no single value/u],
    ['a name of two lines', textOf('name: "a\\nb"'), /control characters/u],
    ['a name without end', textOf(`name: ${'x'.repeat(129)}`), /more than 128/u],
    ['no end marker', '---\nname: x\nbody', /no end marker/u],
    ['an open bracket', textOf('name: [a'), /no YAML/u],
    ['a tab as indentation', textOf('metadata:', '\ta: b'), /no YAML/u],
    ['a key twice', textOf('name: a', 'name: b'), /no YAML/u],
    ['front matter without end', textOf(`description: ${'x'.repeat(20_000)}`), /more than 16384/u],
    ['nesting without end', textOf(`x: ${'['.repeat(15_000)}`), /no YAML|could not be parsed/u],
  ])('refuses %s', (_name, text, error) => {
    expect(() => readFrontMatter(text)).toThrow(error);
  });

  it('runs no tag', () => {
    const text = textOf('name: !!js/function "function () { throw 1 }"', 'description: !!python/object:os.system "x"');
    expect(readFrontMatter(text)).toEqual({ name: 'function () { throw 1 }', description: 'x' });
  });

  it('follows no alias, however often they multiply', () => {
    const levels = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
    const text = textOf('a0: &a0 [x]', ...levels, 'name: bomb', 'description: fine');
    expect(readFrontMatter(text)).toEqual({ name: 'bomb', description: 'fine' });
    expect(() => readFrontMatter(textOf('a: &a x', 'name: *a'))).toThrow(/no single value/u);
  });
});
