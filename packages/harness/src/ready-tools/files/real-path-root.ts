import { constants, type BigIntStats } from 'node:fs';
import { lstat, mkdir, open, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCode } from '@parley/shell';
import { ReadyToolError, shortened } from '../ready-tool-error.js';
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
 * Confinement by real paths, for systems without /proc. Paths are resolved before they are opened, and looked at again
 * afterwards: what is open must be what the path still means, or nothing is read from it.
 *
 * This holds against every link that is there, not against somebody who swaps folders for links at the same time: the
 * looks are separate calls, and with luck each of them falls between two swaps. Only descriptors hold against that.
 */
export class RealPathRoot implements ConfinedRoot {
  /** `root` is a real path. */
  constructor(private readonly root: string) {}

  async openFile(path: string): Promise<HeldFile> {
    const real = await realpath(join(this.root, path));
    const location = locationInside(this.root, real, path);
    checkRegular(await lstat(real), path);
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const opened = await handle.stat({ bigint: true });
      checkRegular(opened, path);
      if (!(await isStill(real, opened))) throw movedError(path);
      return { handle, path: location };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async openFolder(path: string, options: { readonly create?: boolean } = {}): Promise<HeldFolder> {
    try {
      const real = await realpath(join(this.root, path));
      const location = locationInside(this.root, real, path);
      const stats = await lstat(real, { bigint: true });
      if (!stats.isDirectory()) throw noFolderError(path);
      return new RealPathFolder(real, location, stats);
    } catch (error) {
      if (systemCode(error) === 'ENOTDIR') throw noFolderError(path);
      if (options.create !== true || systemCode(error) !== 'ENOENT' || path === '') throw error;
    }
    const parent = await this.openFolder(parentOf(path), options);
    await mkdir(parent.at(basename(path))).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error;
    });
    await parent.verify();
    return parent.child(basename(path));
  }
}

class RealPathFolder implements HeldFolder {
  constructor(
    private readonly real: string,
    readonly path: string,
    private readonly stats: BigIntStats,
  ) {}

  at(name: string): string {
    return join(this.real, name);
  }

  async child(name: string): Promise<HeldFolder> {
    const real = this.at(name);
    const stats = await lstat(real, { bigint: true });
    if (!stats.isDirectory() || !(await isStill(real, stats))) throw noFolderError(joinInside(this.path, name));
    return new RealPathFolder(real, joinInside(this.path, name), stats);
  }

  async verify(): Promise<void> {
    if (!(await isStill(this.real, this.stats))) throw movedError(this.path);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function checkRegular(stats: { isDirectory(): boolean; isFile(): boolean }, path: string): void {
  if (stats.isDirectory()) throw folderError(path);
  if (!stats.isFile()) throw notRegularError(path);
}

/** Whether a real path is still one, and means what was looked at. */
async function isStill(real: string, stats: BigIntStats): Promise<boolean> {
  if ((await realpath(real)) !== real) return false;
  const now = await stat(real, { bigint: true });
  return now.ino === stats.ino && now.dev === stats.dev;
}

function movedError(path: string): ReadyToolError {
  return new ReadyToolError(`'${shortened(path)}' was replaced while it was used`);
}
