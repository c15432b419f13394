import { pathToFileURL } from 'node:url';

// Records a number of runs on a session that others write to as well, reading it again whenever they were first.
const [compiled, root, sessionId, name, count] = process.argv.slice(2);
const { JsonlSessionStorage, openSession, SessionConflictError } = await import(
  pathToFileURL(`${compiled}/session/index.js`)
);
const { recordRun } = await import(pathToFileURL(`${compiled}/session/sessions.test-helper.js`));
const storage = new JsonlSessionStorage(root);
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
let conflicts = 0;
for (let run = 0; run < Number(count);) {
  try {
    const { journal } = await openSession({ storage, sessionId, agentId: 'core' });
    await recordRun(journal, `${name}-${run}`, `${name}-${run}`);
    run += 1;
  } catch (error) {
    if (!(error instanceof SessionConflictError)) throw error;
    conflicts += 1;
  }
}
process.stdout.write(`${conflicts}\n`);
process.stdin.destroy();
await storage.close();
