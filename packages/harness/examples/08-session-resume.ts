// A session in memory: another agent goes on where the first one stopped.
import { Agent, MemorySessionStorage, modelFromEnv, openSession, say, ScriptedModel } from '@parley/harness';

const storage = new MemorySessionStorage();
const open = () => openSession({ storage, sessionId: 'project-42', agentId: 'archivist' });

const first = await open();
const writer = new Agent(
  modelFromEnv(process.env, { offline: new ScriptedModel([say('Noted: the release is on Friday.')]) }),
  {
    agentId: 'archivist',
    session: first.journal,
  },
);
await writer.run('Remember: the release is on Friday.');
await writer.shutdown();

const second = await open();
const reader = new Agent(modelFromEnv(process.env, { offline: new ScriptedModel([say('On Friday.')]) }), {
  agentId: 'archivist',
  session: second.journal,
});
if (second.session !== null) reader.restore(second.session);
console.log(reader.messages.length, reader.canContinue); // 2 true
const result = await reader.run('When is the release?');
console.log(result.output); // On Friday.
await reader.shutdown();
