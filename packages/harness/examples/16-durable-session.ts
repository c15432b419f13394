// A journal on disk, read back by another process: `record`, then `resume`, or both in one go without an argument.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, JsonlSessionStorage, modelFromEnv, openSession, say, ScriptedModel } from '@parley/harness';

const [step = 'both', folder = await mkdtemp(join(tmpdir(), 'harness-session-'))] = process.argv.slice(2);

async function withAgent(answer: string, work: (agent: Agent) => Promise<void>): Promise<void> {
  const storage = new JsonlSessionStorage(folder);
  const { journal, session } = await openSession({ storage, sessionId: 'garden', agentId: 'gardener' });
  const agent = new Agent(modelFromEnv(process.env, { offline: new ScriptedModel([say(answer)]) }), {
    agentId: 'gardener',
    session: journal,
  });
  if (session !== null) agent.restore(session);
  await work(agent);
  await agent.shutdown();
  await storage.close();
}

if (step !== 'resume') {
  await withAgent('I will remember the roses.', async (agent) => {
    console.log((await agent.run('Remember: roses by the wall.')).status); // completed
  });
}
if (step !== 'record') {
  await withAgent('By the wall.', async (agent) => {
    console.log(`restored ${agent.messages.length} messages`); // restored 2 messages
    console.log((await agent.run('Where are the roses?')).output); // By the wall.
  });
  const storage = new JsonlSessionStorage(folder);
  const { session } = await storage.fork('garden', { branchId: 'what-if' });
  const branches = await storage.listBranches('garden');
  console.log(branches.map(({ branchId }) => branchId).join(' ')); // main what-if
  console.log(session.messages.length); // 4
  await storage.close();
}
console.log(`the journal is in ${folder}`);
