import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkWorkingFolder } from './check-working-folder.js';
import { WorkingFolderError } from './child-errors.js';
import { startChild } from './start-child.js';

describe('the working folder of a child', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-acp-')));
    writeFileSync(join(folder, 'file'), '');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('may be one that is there', async () => {
    await expect(checkWorkingFolder(folder)).resolves.toBeUndefined();
  });

  it.each([
    ['relative', 'here', 'not_absolute'],
    ['empty', '', 'not_absolute'],
    ['missing', '/nowhere/at/all', 'missing'],
    ['with a NUL', '/tmp/\0', 'missing'],
    ['a file', 'FOLDER/file', 'not_a_folder'],
    ['below a file', 'FOLDER/file/below', 'not_a_folder'],
  ])('must not be %s', async (_what, path, fault) => {
    const wanted = path.replace('FOLDER', folder);
    const error: unknown = await checkWorkingFolder(wanted).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkingFolderError);
    expect(error).toMatchObject({ fault, path: wanted, code: `working_folder_${fault}` });
  });

  it.each(['closed', 'closed/inner'])('must not be one that may not be entered: %s', async (name) => {
    mkdirSync(join(folder, 'closed', 'inner'), { recursive: true });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'closed'), 0o600);
    // The system's administrator may enter everything.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      const check = checkWorkingFolder(join(folder, name));
      await expect(check).rejects.toMatchObject({ fault: 'not_enterable' });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(join(folder, 'closed'), 0o700);
    }
  });

  it('is looked at before anything is started', async () => {
    const start = startChild({ command: '/no/such/program', cwd: '/nowhere/at/all' });
    await expect(start).rejects.toMatchObject({ name: 'WorkingFolderError', fault: 'missing' });
  });
});
