import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultOf } from '../tool-call.test-helper.js';
import { FileSandbox } from './file-sandbox.test-helper.js';
import { FileTools, type FileToolsOptions } from './file-tools.js';

const box = new FileSandbox();
const { put, text, tools, use } = box;
const read = (args: Record<string, unknown>, options?: Partial<FileToolsOptions>) => use('read_file', args, options);

describe('confinement', () => {
  beforeEach(() => {
    mkdirSync(join(box.base, 'outside'));
    writeFileSync(join(box.base, 'outside', 'secret.txt'), 'hunter2');
    mkdirSync(join(box.base, 'root-sibling'));
    writeFileSync(join(box.base, 'root-sibling', 'secret.txt'), 'hunter2');
  });

  const attempts = (path: string): [string, Record<string, unknown>][] => [
    ['read_file', { path }],
    ['list_files', { path }],
    ['search_files', { pattern: 'hunter2', path }],
    ['write_file', { path, content: 'pwned' }],
    ['edit_file', { path, old_text: 'hunter2', new_text: 'pwned' }],
  ];

  async function refused(path: string): Promise<void> {
    for (const [name, args] of attempts(path)) {
      const result = await use(name, args);
      expect([name, path, result['status']]).toStrictEqual([name, path, 'error']);
      expect(JSON.stringify(result)).not.toMatch(/hunter2|parley-files/u);
    }
    expect(readFileSync(join(box.base, 'outside', 'secret.txt'), 'utf8')).toBe('hunter2');
    expect(readdirSync(join(box.base, 'outside'))).toStrictEqual(['secret.txt']);
    expect(readdirSync(box.base).sort()).toStrictEqual(['outside', 'root', 'root-sibling']);
  }

  it.each([
    '..',
    '../outside/secret.txt',
    'a/../../outside/secret.txt',
    '../root-sibling/secret.txt',
    '../new.txt',
    '/',
    '/etc/passwd',
  ])('holds against %s', async (path) => {
    const messages = await Promise.all(attempts(path).map(async ([name, args]) => (await use(name, args))['error']));
    expect(new Set(messages)).toStrictEqual(new Set([`'${path}' is outside of the root folder`]));
    expect(readdirSync(box.base).sort()).toStrictEqual(['outside', 'root', 'root-sibling']);
  });

  it('holds against links to files, to folders, and on the way', async () => {
    symlinkSync('../outside/secret.txt', join(box.root, 'file'));
    symlinkSync('../outside', join(box.root, 'folder'));
    symlinkSync('folder', join(box.root, 'twice'));
    symlinkSync(join(box.base, 'outside'), join(box.root, 'absolute'));
    for (const path of ['file', 'folder', 'folder/secret.txt', 'twice/secret.txt', 'absolute/secret.txt']) {
      await refused(path);
    }
    for (const path of ['folder/new.txt', 'folder/a/b/new.txt', 'twice/new.txt']) {
      expect(await use('write_file', { path, content: 'x' })).toMatchObject({ status: 'error' });
    }
    expect(readdirSync(join(box.base, 'outside'))).toStrictEqual(['secret.txt']);
  });

  it('holds against links that lead to where nothing is yet', async () => {
    symlinkSync('../outside/new.txt', join(box.root, 'dangling'));
    expect(await use('write_file', { path: 'dangling', content: 'x' })).toMatchObject({
      error: 'the path is a link that leads nowhere',
    });
    symlinkSync('../outside/newfolder', join(box.root, 'danglingfolder'));
    expect(await use('write_file', { path: 'danglingfolder/x', content: 'x' })).toMatchObject({ status: 'error' });
    expect(readdirSync(join(box.base, 'outside'))).toStrictEqual(['secret.txt']);
  });

  it('does not mind links that stay inside', async () => {
    put('real/a.txt', 'one');
    symlinkSync('real', join(box.root, 'folder'));
    symlinkSync('real/a.txt', join(box.root, 'file'));
    expect(await read({ path: 'folder/a.txt' })).toMatchObject({ path: 'real/a.txt', text: 'one' });
    expect(await use('edit_file', { path: 'file', old_text: 'one', new_text: 'uno' })).toMatchObject({
      path: 'real/a.txt',
    });
    expect(text('real/a.txt')).toBe('uno');
    expect(lstatSync(join(box.root, 'file')).isSymbolicLink()).toBe(true);
    expect(await use('write_file', { path: 'folder/b.txt', content: 'x' })).toMatchObject({ status: 'ok' });
    expect(text('real/b.txt')).toBe('x');
  });

  it('does not open pipes and devices', async () => {
    execFileSync('mkfifo', [join(box.root, 'pipe')]);
    for (const [name, args] of attempts('pipe')) {
      const result = await use(name, args);
      expect([name, result['status']]).toStrictEqual([name, 'error']);
    }
    expect(await read({ path: 'pipe' })).toMatchObject({ error: "'pipe' is not a regular file" });
    expect((await resultOf(new FileTools({ root: '/dev' }), 'read_file', { path: 'zero' }))['error']).toBe(
      "'zero' is not a regular file",
    );
  });

  it('holds when the root itself is reached through a link', async () => {
    symlinkSync('root', join(box.base, 'alias'));
    put('a.txt', 'x');
    const handler = new FileTools({ root: join(box.base, 'alias') });
    for (const path of ['a.txt', join(box.base, 'alias', 'a.txt'), join(box.root, 'a.txt')]) {
      expect(await resultOf(handler, 'read_file', { path })).toMatchObject({ path: 'a.txt', text: 'x' });
    }
    expect(await resultOf(handler, 'read_file', { path: '../outside/secret.txt' })).toMatchObject({ status: 'error' });
  });

  it('leaves no descriptor open', async () => {
    put('a/b/c.txt', 'one');
    symlinkSync('../outside/secret.txt', join(box.root, 'file'));
    const handler = tools();
    const all = async () => {
      for (const path of ['a/b/c.txt', 'a', 'file', 'none', '../x']) {
        for (const [name, args] of attempts(path)) await resultOf(handler, name, args as never);
      }
    };
    await all();
    const before = readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 10; i += 1) await all();
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
  });
});
