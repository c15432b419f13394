import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ConfinedRoot } from './confined-root.js';
import { DescriptorRoot, descriptorsWork } from './descriptor-root.js';
import { RealPathRoot } from './real-path-root.js';
import { replaceFile } from './replace-file.js';

let base = '';
let root = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-root-')));
  root = join(base, 'root');
  mkdirSync(join(root, 'dir'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(root, 'dir', 'file'), 'inside');
  writeFileSync(join(base, 'outside', 'file'), 'secret');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function contentOf(confined: ConfinedRoot, path: string): Promise<string> {
  const { handle } = await confined.openFile(path);
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function write(confined: ConfinedRoot, path: string, name: string, id: string): Promise<void> {
  const folder = await confined.openFolder(path, { create: true });
  try {
    const { signal } = new AbortController();
    const content = Buffer.from('written');
    await replaceFile(folder, { name, content, old: undefined, onlyUnchanged: false, id, signal });
  } finally {
    await folder.close();
  }
}

it('works with descriptors here', async () => {
  expect(await descriptorsWork(root)).toBe(process.platform === 'linux');
  expect(await descriptorsWork(join(base, 'none'))).toBe(false);
});

describe.each([
  ['by descriptors', () => new DescriptorRoot(root)],
  ['by real paths', () => new RealPathRoot(root)],
])('confinement %s', (_how, newRoot: () => ConfinedRoot) => {
  it('opens files and folders inside, through links too', async () => {
    symlinkSync('dir', join(root, 'link'));
    symlinkSync('dir/file', join(root, 'filelink'));
    expect(await contentOf(newRoot(), 'dir/file')).toBe('inside');
    expect(await contentOf(newRoot(), 'link/file')).toBe('inside');
    const file = await newRoot().openFile('filelink');
    await file.handle.close();
    expect(file.path).toBe('dir/file');
    const folder = await newRoot().openFolder('link');
    expect(folder.path).toBe('dir');
    await folder.close();
  });

  it('opens nothing outside', async () => {
    symlinkSync('../outside', join(root, 'link'));
    symlinkSync('../outside/file', join(root, 'filelink'));
    symlinkSync('..', join(root, 'up'));
    for (const path of ['link/file', 'filelink', 'up/outside/file']) {
      await expect(newRoot().openFile(path)).rejects.toThrow('outside of the root');
    }
    for (const path of ['link', 'up', 'up/outside']) {
      await expect(newRoot().openFolder(path)).rejects.toThrow('outside of the root');
      await expect(newRoot().openFolder(`${path}/new/folder`, { create: true })).rejects.toThrow('outside of the root');
    }
    expect(readdirSync(join(base, 'outside'))).toStrictEqual(['file']);
  });

  it('opens no pipes, sockets, devices', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(newRoot().openFile('pipe')).rejects.toThrow('not a regular file');
    await expect(newRoot().openFile('dir')).rejects.toThrow('is a folder');
    await expect(newRoot().openFolder('dir/file')).rejects.toThrow('not a folder');
    await expect(newRoot().openFolder('dir/file/x', { create: true })).rejects.toThrow('not a folder');
  });

  it('makes folders, and none through a link that leads nowhere', async () => {
    await write(newRoot(), 'a/b/c', 'file', '1');
    expect(readFileSync(join(root, 'a/b/c/file'), 'utf8')).toBe('written');
    symlinkSync('../outside/new', join(root, 'dangling'));
    await expect(write(newRoot(), 'dangling/x', 'file', '2')).rejects.toThrow();
    expect(readdirSync(join(base, 'outside'))).toStrictEqual(['file']);
  });

  it('enters children that are folders, not those that are links', async () => {
    symlinkSync('dir', join(root, 'link'));
    const folder = await newRoot().openFolder('');
    await expect(folder.child('link')).rejects.toThrow();
    const child = await folder.child('dir');
    expect(child.path).toBe('dir');
    await Promise.all([child.close(), folder.close()]);
  });

  it('does not write outside when the folder becomes a link after it was opened', async () => {
    const folder = await newRoot().openFolder('dir');
    renameSync(join(root, 'dir'), join(root, 'moved'));
    symlinkSync('../outside', join(root, 'dir'));
    const { signal } = new AbortController();
    const replacement = {
      name: 'file',
      content: Buffer.from('x'),
      old: undefined,
      onlyUnchanged: false,
      id: '1',
      signal,
    };
    // By descriptors it is written where the folder is now, by real paths not at all.
    await replaceFile(folder, replacement).catch(() => undefined);
    await folder.close();
    expect(readFileSync(join(base, 'outside', 'file'), 'utf8')).toBe('secret');
    expect(readdirSync(join(base, 'outside'))).toStrictEqual(['file']);
  });
});

/** Swaps a folder for a link to the outside and back, without a pause, until it is told to end. */
const SWAPPER = `
  const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
  const { workerData: { dir, kept, outside, count } } = require('node:worker_threads');
  const swaps = new Int32Array(count);
  // Whoever writes may make the folder anew while it is away.
  const insist = (step) => {
    for (;;) {
      try { return step(); } catch {}
      try { rmSync(dir, { recursive: true, force: true }); } catch {}
    }
  };
  while (Atomics.load(swaps, 1) === 0) {
    renameSync(dir, kept);
    insist(() => symlinkSync(outside, dir));
    unlinkSync(dir);
    insist(() => renameSync(kept, dir));
    Atomics.add(swaps, 0, 1);
  }
`;

/** Works until it has worked so often and the folder was swapped often enough to tell. */
async function whileSwapping(times: number, work: (turn: number) => Promise<void>): Promise<void> {
  const count = new SharedArrayBuffer(8);
  const swaps = new Int32Array(count);
  const workerData = { dir: join(root, 'dir'), kept: join(root, 'kept'), outside: join(base, 'outside'), count };
  const worker = new Worker(SWAPPER, { eval: true, workerData });
  const ended = new Promise<number>((resolve, reject) => void worker.once('exit', resolve).once('error', reject));
  const failed = ended.catch(() => void Atomics.store(swaps, 1, 2));
  while (Atomics.load(swaps, 0) === 0) await new Promise(setImmediate);
  try {
    for (let turn = 0; turn < times || Atomics.load(swaps, 0) < 500; turn += 1) {
      await work(turn);
      if (Atomics.load(swaps, 1) !== 0) break;
    }
  } finally {
    Atomics.store(swaps, 1, 1);
    await failed;
  }
  await ended;
}

describe('a folder that is swapped for a link all the time', () => {
  it('never lets a byte from outside be read', async () => {
    const confined = new DescriptorRoot(root);
    const seen = { inside: 0, refused: 0 };
    await whileSwapping(3_000, async () => {
      const content = await contentOf(confined, 'dir/file').catch(() => undefined);
      expect([undefined, 'inside']).toContain(content);
      seen[content === undefined ? 'refused' : 'inside'] += 1;
    });
    // Otherwise nothing was tested.
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  }, 60_000);

  it('never lets a file outside be made, changed or read', async () => {
    const confined = new DescriptorRoot(root);
    let written = 0;
    await whileSwapping(2_000, async (turn) => {
      await write(confined, turn % 2 === 0 ? 'dir' : 'dir/sub', 'file', String(turn)).then(
        () => (written += 1),
        () => undefined,
      );
      const folder = await confined.openFolder('dir').catch(() => undefined);
      if (folder === undefined) return;
      const file = await open(folder.at('file')).catch(() => undefined);
      if (file !== undefined) expect(await file.readFile('utf8')).not.toBe('secret');
      await file?.close();
      await folder.close();
    });
    expect(written).toBeGreaterThan(0);
    expect(readdirSync(join(base, 'outside'))).toStrictEqual(['file']);
    expect(readFileSync(join(base, 'outside', 'file'), 'utf8')).toBe('secret');
  }, 60_000);
});
