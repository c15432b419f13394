import { constants, type PathLike } from 'node:fs';
import { mkdir, open, readlink, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCode } from '@parley/shell';
import {
  folderError,
  joinInside,
  locationInside,
  noFolderError,
  notRegularError,
  parentOf,
  type ConfinedRoot,
  type HeldFile,
  type HeldFolder,
} from './confined-root.js';

/**
 * Linux: names a file without opening it, so that looking at a pipe or a device has no effect on it. The number is
 * the same on x86 and ARM; the platform's own list of constants leaves it out.
 */
const O_PATH = 0o10000000;

const FOLDER = O_PATH | constants.O_DIRECTORY;

/**
 * Confinement by descriptors, for Linux. Everything is named first, then the descriptor is asked where it is, and
 * from then on only the descriptor is used, by its path under /proc/self/fd. So it does not matter what becomes of
 * the path between the check and the use.
 */
export class DescriptorRoot implements ConfinedRoot {
  /** `root` is a real path. */
  constructor(private readonly root: string) {}

  async openFile(path: string): Promise<HeldFile> {
    const named = await open(join(this.root, path), O_PATH);
    try {
      const location = locationInside(this.root, await readlink(pathOf(named)), path);
      const stats = await named.stat();
      if (stats.isDirectory()) throw folderError(path);
      if (!stats.isFile()) throw notRegularError(path);
      return { handle: await open(pathOf(named), constants.O_RDONLY), path: location };
    } finally {
      await named.close();
    }
  }

  async openFolder(path: string, options: { readonly create?: boolean } = {}): Promise<HeldFolder> {
    let named: FileHandle;
    try {
      named = await open(join(this.root, path), FOLDER);
    } catch (error) {
      if (systemCode(error) === 'ENOTDIR') throw noFolderError(path);
      if (options.create !== true || systemCode(error) !== 'ENOENT' || path === '') throw error;
      return this.#makeFolder(path);
    }
    return this.#held(named, path);
  }

  async #makeFolder(path: string): Promise<HeldFolder> {
    const parent = await this.openFolder(parentOf(path), { create: true });
    try {
      await mkdir(parent.at(basename(path))).catch(ignoreExisting);
      return await parent.child(basename(path));
    } finally {
      await parent.close();
    }
  }

  async #held(named: FileHandle, path: string): Promise<HeldFolder> {
    try {
      return new DescriptorFolder(named, locationInside(this.root, await readlink(pathOf(named)), path));
    } catch (error) {
      await named.close();
      throw error;
    }
  }
}

class DescriptorFolder implements HeldFolder {
  constructor(
    private readonly handle: FileHandle,
    readonly path: string,
  ) {}

  at(name: string): string {
    return `${pathOf(this.handle)}/${name}`;
  }

  async child(name: string): Promise<HeldFolder> {
    // Not following links, a child of a checked folder needs no check of its own.
    const handle = await open(this.at(name), FOLDER | constants.O_NOFOLLOW);
    return new DescriptorFolder(handle, joinInside(this.path, name));
  }

  verify(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

function pathOf(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

function ignoreExisting(error: unknown): void {
  if (systemCode(error) !== 'EEXIST') throw error;
}

/** Whether this system can do it: Linux with /proc. */
export async function descriptorsWork(folder: PathLike): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    const handle = await open(folder, FOLDER);
    try {
      return (await readlink(pathOf(handle))) === folder;
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}
