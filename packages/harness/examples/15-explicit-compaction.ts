// A history made shorter on demand, its summary written by a model.
import { Agent, ModelCompactor, modelFromEnv, say, ScriptedModel } from '@parley/harness';

const summaries = modelFromEnv(process.env, {
  offline: new ScriptedModel([say('The user plants tomatoes and asked about water.')]),
});
const agent = new Agent(
  modelFromEnv(process.env, {
    offline: new ScriptedModel([say('Water them in the morning.'), say('Every third day.')]),
  }),
  {
    context: {
      policy: { budget: { windowTokens: 100_000, reserveTokens: 1_000, keepRecentTokens: 1 } },
      compactor: new ModelCompactor(summaries),
    },
  },
);

await agent.run('I plant tomatoes. When do I water them?');
await agent.run('And how often?');
const { status, summary } = await agent.compact();
console.log(status, summary?.messageCount); // completed 2
console.log(summary?.content);
console.log(agent.messages.map(({ role }) => role).join(' ')); // system user assistant
await agent.shutdown();
