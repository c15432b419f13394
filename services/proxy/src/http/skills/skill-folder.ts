import { lstat, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ObjectStore } from '../transfers/index.js';
import type { SkillFile, SkillRequest } from './skill-request.js';

/** How many files of a bundle are fetched at once. */
const PARALLEL_DOWNLOADS = 4;

/** Something of this name is there already. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';
}

/** Makes a skill's folder whole or not at all: it is filled under another name first. @throws FolderTaken */
export async function makeSkillFolder(
  folder: string,
  content: SkillRequest['content'],
  store: ObjectStore,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(folder)) throw new FolderTaken();
  const root = dirname(folder);
  await mkdir(root, { recursive: true });
  // A skill's name never begins with a dot.
  const draft = await mkdtemp(join(root, '.adding-'));
  try {
    if ('skillMd' in content) await writeFile(join(draft, 'SKILL.md'), content.skillMd);
    else await fetchFiles(draft, content.files, store, signal);
    await moveInto(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fetchFiles(
  draft: string,
  files: readonly SkillFile[],
  store: ObjectStore,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const waiting = files.values();
  const fetchNext = async (): Promise<void> => {
    for (const { path, object } of waiting) {
      const file = join(draft, path);
      await mkdir(dirname(file), { recursive: true });
      await store.download(object, file, either);
    }
  };
  const workers = Array.from({ length: PARALLEL_DOWNLOADS }, async () => {
    try {
      await fetchNext();
    } catch (error) {
      failed.abort();
      throw error;
    }
  });
  try {
    await Promise.all(workers);
  } finally {
    // Nothing may write into the folder while it is taken away.
    await Promise.allSettled(workers);
  }
}

async function moveInto(draft: string, folder: string): Promise<void> {
  if (await exists(folder)) throw new FolderTaken();
  await rename(draft, folder);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
