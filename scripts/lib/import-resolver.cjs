/**
 * Tells the import rules of eslint where an import leads: to sources, never to compiled files, so that linting
 * needs no build. Relative imports say `.js` and mean `.ts`; `@parley/NAME` is the entry of that workspace.
 */
const { existsSync, readFileSync, readdirSync } = require('node:fs');
const { isBuiltin } = require('node:module');
const { dirname, join, resolve } = require('node:path');

const root = dirname(dirname(__dirname));
let entries;

/** Package name to the path of its source entry. */
function workspaceEntries() {
  if (entries !== undefined) return entries;
  entries = new Map();
  const below = (parent) => readdirSync(join(root, parent)).map((name) => join(root, parent, name));
  for (const folder of [join(root, 'proto'), ...below('packages'), ...below('services')]) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name } = JSON.parse(readFileSync(manifest, 'utf8'));
    entries.set(name, join(folder, 'src', 'index.ts'));
  }
  return entries;
}

exports.interfaceVersion = 2;

exports.resolve = (source, file) => {
  if (isBuiltin(source)) return { found: true, path: null };
  if (source.startsWith('.')) {
    const path = resolve(dirname(file), source);
    const candidates = [path.replace(/\.js$/u, '.ts'), path, `${path}.ts`];
    return { found: true, path: candidates.find((one) => existsSync(one)) ?? candidates[0] };
  }
  const name = /^(?:@[^/]+\/)?[^/]+/u.exec(source)?.[0] ?? source;
  const entry = workspaceEntries().get(name);
  return entry === undefined ? { found: false } : { found: true, path: entry };
};
