import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const packageFolder = dirname(import.meta.dirname);
/** Where the names of packages are resolved. */
export const rootFolder = dirname(dirname(packageFolder));

/** What a child process runs: plain modules beside the sources. */
export const fixture = (name: string): string => join(packageFolder, 'fixtures', name);

/** A child process runs the compiled package; this compiles what has changed since. */
export async function compile(): Promise<void> {
  const tsc = join(rootFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', packageFolder], { timeout: 120_000 });
}
