import { pathToFileURL } from 'node:url';

// Begins a run, tells so, and then waits: to be told on its input to finish it, or to be killed.
const [compiled, root, sessionId, runId] = process.argv.slice(2);
const { JsonlSessionStorage, openSession } = await import(pathToFileURL(`${compiled}/session/index.js`));
const { completed, opening, says } = await import(pathToFileURL(`${compiled}/session/sessions.test-helper.js`));
const storage = new JsonlSessionStorage(root);
try {
  const { journal } = await openSession({ storage, sessionId, agentId: 'core' });
  process.stdout.write('opened\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  await journal.beginRun(opening(runId));
  await journal.appendAssistant(runId, 3, says('look', `call-${runId}`));
  process.stdout.write('begun\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  await journal.finishRun(runId, 5, completed(runId));
  process.stdout.write('finished\n');
} catch (error) {
  process.stdout.write(`${error.name}: ${error.message}\n`);
}
process.stdin.destroy();
await storage.close();
