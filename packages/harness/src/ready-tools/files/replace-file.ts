import { constants, type BigIntStats } from 'node:fs';
import { open, rename, stat, unlink } from 'node:fs/promises';
import { ReadyToolError } from '../ready-tool-error.js';
import type { HeldFolder } from './confined-root.js';

export interface Replacement {
  readonly name: string;
  readonly content: Buffer;
  /** The file as it was read; its mode and owner are kept. Undefined for a new one. */
  readonly old: BigIntStats | undefined;
  /** Refuses to replace what has changed since it was read. */
  readonly onlyUnchanged: boolean;
  /** Part of the temporary name; unique. */
  readonly id: string;
  readonly signal: AbortSignal;
}

/**
 * Puts a whole new file in the place of an old one: a reader sees one or the other, a crash leaves one or the other.
 * An entry that is a link is replaced, not followed.
 */
export async function replaceFile(folder: HeldFolder, replacement: Replacement): Promise<void> {
  const temporary = folder.at(`.parley-${replacement.id}.tmp`);
  try {
    await writeTemporary(temporary, replacement);
    await folder.verify();
    if (replacement.onlyUnchanged) await checkUnchanged(folder, replacement);
    replacement.signal.throwIfAborted();
    await rename(temporary, folder.at(replacement.name));
  } catch (error) {
    // Not there if it could not be made.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

async function writeTemporary(path: string, { content, old }: Replacement): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  // Nobody else may read it before it has the mode of the file that it replaces.
  const handle = await open(path, flags, old === undefined ? 0o666 : 0o600);
  try {
    await handle.writeFile(content);
    if (old !== undefined) {
      // Only root may give files away; others keep what they write.
      if (process.getuid?.() === 0) await handle.chown(Number(old.uid), Number(old.gid));
      await handle.chmod(Number(old.mode) & 0o777);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function checkUnchanged(folder: HeldFolder, { name, old }: Replacement): Promise<void> {
  const now = await stat(folder.at(name), { bigint: true });
  const same = old?.ino === now.ino && old.dev === now.dev && old.size === now.size && old.mtimeNs === now.mtimeNs;
  if (!same) throw new ReadyToolError('the file was changed by somebody else meanwhile; read it again');
}
