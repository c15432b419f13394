// Text as it comes. Events are an async iterable too.
import { Agent, modelFromEnv, say, ScriptedModel } from '@parley/harness';

const script = new ScriptedModel([
  [
    { type: 'thinking_delta', delta: 'Short is better.' },
    ...['Nothing ', 'is ', 'lost.'].map((delta) => ({ type: 'text_delta', delta }) as const),
    { type: 'completed', response: say('Nothing is lost.') },
  ],
]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }));

const running = agent.run('Say something comforting.');
for await (const { payload } of agent.events()) {
  if (payload.kind === 'assistant_thinking_delta') console.log(`[thinking] ${payload.delta}`);
  if (payload.kind === 'assistant_text_delta') process.stdout.write(payload.delta);
  if (payload.kind === 'agent_finished') break;
}
console.log(`\n${(await running).stopReason}`); // text_response
await agent.shutdown();
