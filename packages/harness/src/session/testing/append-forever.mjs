import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

// Appends run after run, one record at a time, and tells the id of each once it is acknowledged.
const [compiled, root, sessionId] = process.argv.slice(2);
const { JsonlSessionStorage } = await import(pathToFileURL(`${compiled}/session/index.js`));
const { wholeRun } = await import(pathToFileURL(`${compiled}/session/sessions.test-helper.js`));
const storage = new JsonlSessionStorage(root, { lockWaitMs: 60_000 });
await storage.abandon(sessionId);
for (let run = 0; ; run += 1) {
  for (const draft of wholeRun(`${process.pid}-${run}-${Math.random()}`, 'x'.repeat(1_000 * (run % 5)))) {
    const [record] = await storage.append(sessionId, 'core', [draft]);
    // A pipe is written at once: what was told was acknowledged, whenever the process is killed.
    writeSync(1, `${record.recordId}\n`);
  }
}
