import { pathToFileURL } from 'node:url';

// Fails to append a record that is too large, and appends small ones before and after. Tells what it saw as JSON.
const [compiled, root, sessionId] = process.argv.slice(2);
process.on('SIGXFSZ', () => undefined);
const { JsonlSessionStorage } = await import(pathToFileURL(`${compiled}/session/index.js`));
const { wholeRun } = await import(pathToFileURL(`${compiled}/session/sessions.test-helper.js`));
const storage = new JsonlSessionStorage(root);
const acknowledged = [];
const append = async (drafts) => {
  for (const record of await storage.append(sessionId, 'core', drafts)) acknowledged.push(record.recordId);
};
await append(wholeRun('r1'));
let failure;
try {
  await append(wholeRun('large', 'x'.repeat(100_000)));
} catch (error) {
  failure = { name: error.name, code: error.code, message: error.message };
}
await append(wholeRun('r2'));
const stored = (await storage.records(sessionId)).map(({ recordId }) => recordId);
process.stdout.write(JSON.stringify({ acknowledged, stored, failure }));
