import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Makes plain modules of the journal, for processes that are started many times: node compile-journal.mjs FOLDER
const [target] = process.argv.slice(2);
const journal = fileURLToPath(new URL('../', import.meta.url));
const protocol = fileURLToPath(new URL('../../../../../packages/proxy-protocol/src/json/', import.meta.url));

function compile(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (!name.endsWith('.ts') || name.includes('.test')) continue;
    const code = stripTypeScriptTypes(readFileSync(join(from, name), 'utf8'), { mode: 'transform' });
    writeFileSync(join(to, name.replace(/\.ts$/, '.js')), code);
  }
}

compile(journal, target);
const scope = join(target, 'node_modules', '@parley', 'proxy-protocol');
compile(protocol, scope);
writeFileSync(join(scope, 'package.json'), '{"name":"@parley/proxy-protocol","type":"module","exports":"./index.js"}');
writeFileSync(join(target, 'package.json'), '{"type":"module"}');
