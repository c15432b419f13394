// A history that is kept from run to run.
import { Agent, modelFromEnv, say, ScriptedModel } from '@parley/harness';

const script = new ScriptedModel([say('I will remember that.'), say('You prefer TypeScript.')]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  agentId: 'tutor',
  systemPrompt: 'You are a concise programming tutor.',
});

await agent.run('Remember that I prefer TypeScript.');
const second = await agent.run('Which language do I prefer?');
console.log(second.output); // You prefer TypeScript.
console.log(agent.messages.map(({ role }) => role).join(' ')); // user assistant user assistant

agent.reset();
console.log(agent.messages.length); // 0
await agent.shutdown();
