// A tool of one's own, with typed and validated arguments.
import { Agent, call, defineTool, modelFromEnv, say, ScriptedModel, toolHandler } from '@parley/harness';
import { z } from 'zod';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  effect: 'read_only',
  parameters: z.strictObject({ left: z.number(), right: z.number() }),
  run: ({ left, right }) => ({ sum: left + right }),
});

const script = new ScriptedModel([
  say(null, call('c1', 'add', { left: 2, right: 'three' })),
  say(null, call('c2', 'add', { left: 2, right: 3 })),
  say('2 and 3 make 5.'),
]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  agentId: 'calculator',
  handlers: [toolHandler(add)],
});

const result = await agent.run('What is 2 + 3?');
console.log(result.output); // 2 and 3 make 5.
// The first call was wrong: the model was told where, and asked again.
for (const message of agent.messages) if (message.role === 'tool') console.log(message.content);
await agent.shutdown();
