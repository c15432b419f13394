import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

// Makes plain modules of the session's sources and what they import, for processes that start hundreds of times:
// node compile-sources.mjs FOLDER
const sources = fileURLToPath(new URL('../../', import.meta.url));
const [target] = process.argv.slice(2);
const done = new Set();

function compile(path) {
  if (done.has(path)) return;
  done.add(path);
  const code = stripTypeScriptTypes(readFileSync(path, 'utf8'), { mode: 'transform' });
  const output = join(target, relative(sources, path)).replace(/\.ts$/, '.js');
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, code);
  for (const [, specifier] of code.matchAll(/from ["'](\.[^"']+)\.js["']/g)) {
    compile(join(dirname(path), `${specifier}.ts`));
  }
}

compile(join(sources, 'session/index.ts'));
compile(join(sources, 'session/sessions.test-helper.ts'));
writeFileSync(join(target, 'package.json'), '{"type":"module"}');
const locks = createRequire(import.meta.url).resolve('fs-native-extensions/package.json');
symlinkSync(dirname(dirname(locks)), join(target, 'node_modules'));
