// What a run does, event by event. A sink is awaited; one that throws hurts nobody.
import {
  Agent,
  call,
  defineTool,
  modelFromEnv,
  say,
  ScriptedModel,
  toolHandler,
  type AgentEventSink,
} from '@parley/harness';
import { z } from 'zod';

const echo = defineTool({
  name: 'echo',
  description: 'Gives back what it got.',
  effect: 'read_only',
  parameters: z.strictObject({ text: z.string() }),
  run: ({ text }) => text,
});
const printing: AgentEventSink = {
  emit({ sequence, payload }) {
    console.log(String(sequence).padStart(2), payload.kind);
  },
};
const broken: AgentEventSink = {
  emit() {
    throw new Error('this sink is broken');
  },
};

const script = new ScriptedModel([say(null, call('c1', 'echo', { text: 'hello' })), say('It said hello.')]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  handlers: [toolHandler(echo)],
  sinks: [printing, broken],
});

const result = await agent.run('Let echo say hello.');
console.log(result.status); // completed
await agent.shutdown();
