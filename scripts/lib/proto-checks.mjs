import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { read, root, run } from './workspace.mjs';

/**
 * Whether the committed code is what the contracts give: generates it again beside the workspace and compares.
 * @returns {Promise<boolean>}
 */
export async function generatedIsFresh() {
  const fresh = mkdtempSync(join(tmpdir(), 'parley-generated-'));
  try {
    if ((await run('buf', ['generate', '-o', fresh])) !== 0) return false;
    const differences = compareFolders(join(root, 'proto', 'gen'), join(fresh, 'proto', 'gen'));
    for (const line of differences) console.error(line);
    if (differences.length > 0) console.error('Run `make generate` and commit what it changes.');
    return differences.length === 0;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** One line for every file that is in one folder only or differs. */
export function compareFolders(committed, fresh) {
  const [left, right] = [readFiles(committed), readFiles(fresh)];
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  return names.flatMap((name) => {
    if (!left.has(name)) return [`${name} is missing`];
    if (!right.has(name)) return [`${name} is left over`];
    return left.get(name) === right.get(name) ? [] : [`${name} is not what the contract gives`];
  });
}

function readFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [relative(folder, path), readFileSync(path, 'utf8')];
    }),
  );
}

/**
 * Compares the contracts with those of the branch main.
 * @returns {Promise<boolean | string>} whether nothing breaks, or why it could not be compared
 */
export async function contractsAreCompatible() {
  const base = ['main', 'origin/main'].find((name) => {
    try {
      read('git', ['cat-file', '-e', `${name}:proto`]);
      read('git', ['cat-file', '-e', `${name}:buf.yaml`]);
      return true;
    } catch {
      return false;
    }
  });
  if (base === undefined) return 'there is no branch main with contracts to compare with';
  const folder = mkdtempSync(join(tmpdir(), 'parley-contracts-'));
  try {
    const archive = join(folder, 'main.tar');
    read('git', ['archive', '--format=tar', `--output=${archive}`, base, 'proto', 'buf.yaml']);
    return (await run('buf', ['breaking', '--against', archive])) === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
