import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareFolders } from './proto-checks.mjs';

describe('compareFolders', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-compare-'));
    for (const side of ['committed', 'fresh']) {
      mkdirSync(join(folder, side, 'v1'), { recursive: true });
      writeFileSync(join(folder, side, 'v1', 'same.ts'), 'same');
    }
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const compare = () => compareFolders(join(folder, 'committed'), join(folder, 'fresh'));

  it('finds nothing in equal folders', () => {
    expect(compare()).toEqual([]);
  });

  it('names what differs, is missing and is left over', () => {
    writeFileSync(join(folder, 'committed', 'v1', 'changed.ts'), 'before');
    writeFileSync(join(folder, 'fresh', 'v1', 'changed.ts'), 'after');
    writeFileSync(join(folder, 'committed', 'old.ts'), '');
    writeFileSync(join(folder, 'fresh', 'v1', 'new.ts'), '');
    expect(compare()).toEqual([
      'old.ts is left over',
      'v1/changed.ts is not what the contract gives',
      'v1/new.ts is missing',
    ]);
  });
});
