import { pathToFileURL } from 'node:url';

// Appends until that fails, then tells what it saw as one line of JSON.
const [compiled, root, sessionId] = process.argv.slice(2);
// The signal of the file size limit would end the process; ignored, the write fails.
process.on('SIGXFSZ', () => undefined);
const { JsonlSessionStorage } = await import(pathToFileURL(`${compiled}/session/index.js`));
const { wholeRun } = await import(pathToFileURL(`${compiled}/session/sessions.test-helper.js`));
const storage = new JsonlSessionStorage(root);
const acknowledged = [];
let failure;
for (let run = 0; failure === undefined; run += 1) {
  try {
    for (const draft of wholeRun(`run-${run}`, 'x'.repeat(3_000))) {
      const [record] = await storage.append(sessionId, 'core', [draft]);
      acknowledged.push(record.recordId);
    }
  } catch (error) {
    failure = { name: error.name, code: error.code, message: error.message };
  }
}
const stored = (await storage.records(sessionId)).map(({ recordId }) => recordId);
process.stdout.write(JSON.stringify({ acknowledged, stored, failure }));
