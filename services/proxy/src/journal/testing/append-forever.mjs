import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Appends facts to several streams at once and says of each when it was acknowledged, until it is killed:
// node append-forever.mjs COMPILED_FOLDER STATE_DIR
const [compiled, dir] = process.argv.slice(2);
const { openFactLog } = await import(pathToFileURL(join(compiled, 'open-fact-log.js')).href);
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const log = await openFactLog({ dir, logger, maxOpenFiles: 2, compactAtBytes: 20_000 });
for await (const { stream } of log.load()) process.stdout.write(`loaded ${stream}\n`);
const life = process.pid;

async function write(stream, writer) {
  for (let count = 0; ; count += 1) {
    const id = `${life}-${writer}-${count}`;
    const fact =
      stream === 'proxy'
        ? { kind: 'skill_added', at: Date.now(), skill: { name: id, description: '', path: '/x' } }
        : {
            kind: 'turn_ending',
            at: Date.now(),
            taskId: stream,
            end: { state: 'completed', texts: [id, 'x'.repeat(count % 3_000)] },
          };
    await log.append(stream, fact);
    process.stdout.write(`${stream} ${id}\n`);
  }
}

await Promise.all(['proxy', 'proxy', 'a', 'b', 'c', 'c'].map(write));
