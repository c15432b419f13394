import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closeLabs, newFolder } from './agent-lab.test-helper.js';
import { FileSessionDirectory } from './file-session-directory.js';

afterEach(closeLabs);

describe('FileSessionDirectory', () => {
  const facts = { sessionId: 's-1', cwd: '/a', title: 'a task', updatedAt: 5 };

  it('keeps facts for a later process', async () => {
    const root = join(await newFolder(), 'deep', 'acp');
    const directory = new FileSessionDirectory(root);
    expect(await directory.list()).toEqual([]);
    expect(await directory.find('s-1')).toBeUndefined();
    await directory.remember(facts);
    await directory.remember({ ...facts, updatedAt: 6 });
    expect(await new FileSessionDirectory(root).list()).toEqual([{ ...facts, updatedAt: 6 }]);
    await directory.forget('s-1');
    await directory.forget('s-1');
    expect(await new FileSessionDirectory(root).find('s-1')).toBeUndefined();
  });

  it('sees what another process changed', async () => {
    const root = await newFolder();
    const [one, other] = [new FileSessionDirectory(root), new FileSessionDirectory(root)];
    await one.remember(facts);
    expect(await other.find('s-1')).toEqual(facts);
    await one.remember({ ...facts, title: 'b' });
    expect((await other.list())[0]?.title).toBe('b');
  });

  it('leaves out what it cannot read, with a warning', async () => {
    const root = await newFolder();
    const warnings: unknown[] = [];
    const directory = new FileSessionDirectory(root, { logger: { warn: (...args) => void warnings.push(args) } });
    await directory.remember(facts);
    await writeFile(join(root, 'broken.json'), '{');
    await writeFile(join(root, 'other.txt'), 'x');
    expect(await directory.list()).toEqual([facts]);
    expect(JSON.stringify(warnings)).toContain('broken.json');
  });

  it.each(['../x', 'a/b', '', 'x'.repeat(65)])('writes nothing for the id %j', async (sessionId) => {
    const directory = new FileSessionDirectory(await newFolder());
    await expect(directory.remember({ ...facts, sessionId })).rejects.toThrow(RangeError);
    expect(await directory.find(sessionId)).toBeUndefined();
  });
});
