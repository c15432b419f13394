import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultOf } from '../tool-call.test-helper.js';
import { FileSandbox } from './file-sandbox.test-helper.js';
import { FileTools, type FileToolsOptions } from './file-tools.js';

const box = new FileSandbox();
const { put, text, tools, use } = box;

describe('the tools', () => {
  it('say which of them change things, and may be without those', () => {
    expect(tools().tools.map(({ name, effect }) => `${name} ${effect}`)).toStrictEqual([
      'read_file read_only',
      'list_files read_only',
      'search_files read_only',
      'write_file side_effecting',
      'edit_file side_effecting',
    ]);
    expect(tools({ readOnly: true }).tools.map(({ name }) => name)).toStrictEqual([
      'read_file',
      'list_files',
      'search_files',
    ]);
  });

  it('that were left out do not work', async () => {
    const writing = use('write_file', { path: 'a', content: 'x' }, { readOnly: true });
    await expect(writing).rejects.toThrow(TypeError);
    expect(readdirSync(box.root)).toStrictEqual([]);
  });

  it('do not start without their folder, and start once it is there', async () => {
    const later = new FileTools({ root: join(box.base, 'later') });
    await expect(later.start()).rejects.toMatchObject({ code: 'ENOENT' });
    mkdirSync(join(box.base, 'later'));
    await later.start();
    writeFileSync(join(box.base, 'file'), '');
    await expect(new FileTools({ root: join(box.base, 'file') }).start()).rejects.toThrow();
  });

  it.each([{ maxReadBytes: 0 }, { maxWriteBytes: -1 }, { maxResults: 1.5 }, { searchTimeoutMs: 0 }])(
    'refuse the limit %p',
    (options) => {
      expect(() => tools(options)).toThrow(RangeError);
    },
  );

  it.each([
    ['read_file', {}, "'path' is required"],
    ['read_file', { path: 7 }, "'path' must be a string"],
    ['read_file', { path: 'a', offset: 0 }, "'offset' must be an integer from 1 to 1000000000"],
    ['read_file', { path: 'a\0b' }, 'a path must not contain NUL characters'],
    ['read_file', { path: 'none' }, "'none': does not exist"],
    ['read_file', { path: '.' }, "'' is a folder"],
    ['read_file', { path: 'x'.repeat(300) }, `'${'x'.repeat(200)}…': the name is too long`],
    ['list_files', { path: 'none' }, "'none': does not exist"],
    ['list_files', { depth: 99 }, "'depth' must be an integer from 1 to 20"],
    ['write_file', { path: 'a' }, "'content' is required"],
    ['write_file', { path: '', content: '' }, "'.' is a folder"],
    [
      'edit_file',
      { path: 'a', old_text: 'a', new_text: 'b', replace_all: 'yes' },
      "'replace_all' must be true or false",
    ],
  ])('%s answers with an error (case %#)', async (name, args, error) => {
    expect(await use(name, args)).toStrictEqual({ status: 'error', tool: name, error });
  });

  it('stop when the run is aborted', async () => {
    put('a.txt', 'x');
    const signal = AbortSignal.abort(new Error('stop'));
    for (const [name, args] of [
      ['read_file', { path: 'a.txt' }],
      ['search_files', { pattern: 'x' }],
      ['list_files', {}],
      ['write_file', { path: 'a.txt', content: 'y' }],
      ['edit_file', { path: 'a.txt', old_text: 'x', new_text: 'y' }],
    ] as const) {
      await expect(resultOf(tools(), name, args, { signal })).rejects.toThrow('stop');
    }
    expect(text('a.txt')).toBe('x');
    expect(readdirSync(box.root)).toStrictEqual(['a.txt']);
  });
});

describe('listing', () => {
  it('shows folders, links and files down to a depth, but not what is in excluded folders', async () => {
    put('b.txt');
    put('a/deep/er/x.txt');
    put('node_modules/m/index.js');
    symlinkSync('b.txt', join(box.root, 'link'));
    expect(await use('list_files', {})).toStrictEqual({
      status: 'ok',
      path: '.',
      entries: ['a/', 'a/deep/', 'b.txt', 'link@', 'node_modules/'],
      truncated: false,
    });
    expect(await use('list_files', { path: 'a', depth: 3 })).toMatchObject({
      path: 'a',
      entries: ['a/deep/', 'a/deep/er/', 'a/deep/er/x.txt'],
    });
    expect((await use('list_files', {}, { exclude: ['a'] }))['entries']).toContain('node_modules/m/');
  });

  it('is bounded', async () => {
    for (let i = 0; i < 30; i += 1) put(`f${i}`);
    const result = await use('list_files', {}, { maxResults: 10 });
    expect(result['entries']).toHaveLength(10);
    expect(result['truncated']).toBe(true);
    expect((await use('list_files', {}, { maxResults: 30 }))['truncated']).toBe(false);
  });

  it('does not follow links in a circle', async () => {
    mkdirSync(join(box.root, 'a'));
    symlinkSync('..', join(box.root, 'a', 'up'));
    expect((await use('list_files', { depth: 20 }))['entries']).toStrictEqual(['a/', 'a/up@']);
  });
});

describe('searching', () => {
  const search = (args: Record<string, unknown>, options?: Partial<FileToolsOptions>) =>
    use('search_files', args, options);

  it('gives places and lines', async () => {
    put('a/one.ts', 'const x = 1;\r\nconst y = 2;\r\n');
    put('b.md', 'no match\nconst z');
    expect(await search({ pattern: '^const \\w' })).toStrictEqual({
      status: 'ok',
      matches: ['a/one.ts:1: const x = 1;', 'a/one.ts:2: const y = 2;', 'b.md:2: const z'],
      searched_files: 2,
      truncated: false,
    });
    expect((await search({ pattern: 'CONST Y' }))['matches']).toStrictEqual([]);
    expect((await search({ pattern: '(?i)CONST Y' }))['matches']).toHaveLength(1);
    expect((await search({ pattern: 'const', path: 'a' }))['matches']).toHaveLength(2);
    expect((await search({ pattern: 'const', path: 'b.md' }))['matches']).toStrictEqual(['b.md:2: const z']);
    expect((await search({ pattern: 'const', glob: '*.md' }))['matches']).toHaveLength(1);
    expect((await search({ pattern: 'const', glob: 'a/**' }))['matches']).toHaveLength(2);
  });

  it('leaves out binary files, excluded folders, links and pipes', async () => {
    put('bin', Buffer.from('match\0'));
    put('.git/config', 'match');
    put('real.txt', 'match');
    symlinkSync('real.txt', join(box.root, 'link.txt'));
    execFileSync('mkfifo', [join(box.root, 'pipe')]);
    expect((await search({ pattern: 'match' }))['matches']).toStrictEqual(['real.txt:1: match']);
  });

  it('is bounded in matches, in lines and in files', async () => {
    put('a.txt', 'x\n'.repeat(100));
    const few = await search({ pattern: 'x', max_results: 5 });
    expect(few['matches']).toHaveLength(5);
    expect(few).toMatchObject({ truncated: true, note: 'there are more matches' });
    expect((await search({ pattern: 'x', max_results: 999 }, { maxResults: 7 }))['matches']).toHaveLength(7);
    put('a.txt', `${'-'.repeat(5_000)}needle${'-'.repeat(100_000)}`);
    const long = await search({ pattern: 'needle' });
    expect(long).toMatchObject({ truncated: true, note: 'long lines were searched in part' });
    expect(long['matches'][0]).toMatch(/^a\.txt:1: …-+needle-+…$/u);
    expect(long['matches'][0].length).toBeLessThan(330);
    put('a.txt', Buffer.alloc(5 * 1_048_576, 'x'));
    expect(await search({ pattern: 'x' })).toMatchObject({ matches: [], note: 'large files were left out' });
  });

  it('ends in time, and lets others run meanwhile', async () => {
    for (let i = 0; i < 20; i += 1) put(`f${i}`, `${'ab'.repeat(2_000)}\n`.repeat(500));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const begun = performance.now();
    const result = await search({ pattern: '(?:(?:a?){50}(?:b?){50}){5}c$' }, { searchTimeoutMs: 60 });
    clearInterval(timer);
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(result).toMatchObject({ truncated: true, note: 'the time for searching was over' });
    expect(turns).toBeGreaterThan(0);
  });

  it.each([
    ['', "'pattern' must not be empty"],
    ['(', "'pattern' is not a regular expression in RE2 syntax (no lookarounds, no backreferences)"],
    ['(?=a)', "'pattern' is not a regular expression in RE2 syntax (no lookarounds, no backreferences)"],
    ['a'.repeat(1_001), "'pattern' must have at most 1000 characters"],
    ['a{1000}'.repeat(20), "'pattern' is too large"],
  ])('refuses pattern %#', async (pattern, error) => {
    expect(await search({ pattern })).toMatchObject({ status: 'error', error });
  });

  it.each(['(a+)+$', '^(a|a)*$', '(.*)*=.*'])('cannot be hung by %s', async (pattern) => {
    put('a.txt', `${'a'.repeat(100_000)}!\n`);
    expect(await search({ pattern })).toMatchObject({ status: 'ok' });
  });
});
