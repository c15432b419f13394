import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Keeps the journals that were written to last, `keep` of them, and removes the others with their lock files. For a
 * folder of one process whose contexts each end soon: what is oldest is not in use.
 *
 * @returns how many were removed; 0 if there is no such folder yet.
 */
export async function pruneJournals(folder: string, keep: number): Promise<number> {
  const names = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const journals = names.filter((name) => name.endsWith('.jsonl'));
  if (journals.length <= keep) return 0;
  const dated = await Promise.all(
    journals.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = dated.toSorted((a, b) => b.at - a.at).slice(keep);
  for (const { name } of old) {
    const path = join(folder, name);
    await Promise.all(['', '.lock'].map((suffix) => rm(path + suffix, { force: true })));
  }
  return old.length;
}
