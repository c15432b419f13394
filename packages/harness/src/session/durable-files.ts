import { closeSync, fsync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const sync = promisify(fsync);

/** Makes a folder, for its owner only, and sees to it that it is there after a power cut. */
export function ensureFolder(path: string): void {
  const firstMade = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  const fd = openSync(dirname(firstMade), 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes names that were added to a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes a new file, durably. Nothing of that name may be there. */
export async function writeNewFile(path: string, bytes: Buffer): Promise<void> {
  const fd = openSync(path, 'wx', 0o600);
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  await syncFolder(dirname(path));
}
