import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closeLabs, newFolder } from './agent-lab.test-helper.js';
import { fileBefore } from './file-before.js';

afterEach(closeLabs);

describe('fileBefore', () => {
  it('tells text, a new file, and nothing else', async () => {
    const cwd = await newFolder();
    const outside = await newFolder();
    await writeFile(join(cwd, 'a.txt'), 'text');
    await writeFile(join(cwd, 'bytes'), Buffer.from([1, 0, 2]));
    await writeFile(join(cwd, 'large'), 'x'.repeat(300_000));
    await writeFile(join(outside, 'secret'), 'secret');
    await symlink(join(outside, 'secret'), join(cwd, 'link'));
    await mkdir(join(cwd, 'folder'));
    expect(await fileBefore(cwd, 'a.txt')).toBe('text');
    expect(await fileBefore(cwd, 'new/deep.txt')).toBeNull();
    for (const path of ['bytes', 'large', 'link', 'folder', join(outside, 'secret'), '../..', '/dev/zero']) {
      expect([path, await fileBefore(cwd, path)]).toEqual([path, undefined]);
    }
  });
});
