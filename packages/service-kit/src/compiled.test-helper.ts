import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const packageFolder = dirname(import.meta.dirname);

/** Where the names of packages are resolved. */
export const rootFolder = dirname(dirname(packageFolder));

/** Services to be run as processes of their own: plain modules, which use the compiled package. */
export const fixtures = {
  phases: fileURLToPath(new URL('../fixtures/service.mjs', import.meta.url)),
  traced: fileURLToPath(new URL('../fixtures/traced.mjs', import.meta.url)),
};

/** Compiles what has changed since the package was compiled last. */
export async function compile(): Promise<void> {
  const tsc = join(rootFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', packageFolder], { timeout: 120_000 });
}
