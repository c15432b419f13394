import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { systemCode } from '@parley/shell';

const MAX_BYTES = 262_144;

/**
 * The text of a file that is about to be replaced: null if there is none yet, undefined if it is not to be shown — it
 * is outside of the folder, no plain file, too long, or no text.
 */
export async function fileBefore(cwd: string, path: string): Promise<string | null | undefined> {
  try {
    const [root, file] = await Promise.all([realpath(cwd), realpath(resolve(cwd, path))]);
    if (!file.startsWith(root.endsWith(sep) ? root : root + sep)) return undefined;
    // A pipe without a writer would be waited for.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await handle.stat().then((stats) => (stats.isFile() ? stats : { size: Infinity }));
      if (size > MAX_BYTES) return undefined;
      const bytes = await handle.readFile();
      return bytes.includes(0) ? undefined : bytes.toString('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? null : undefined;
  }
}
