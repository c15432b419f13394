// An autonomous agent: text does not end its run, only a tool that says `complete` does.
import { Agent, call, defineTool, modelFromEnv, say, ScriptedModel, StepOutcome, toolHandler } from '@parley/harness';
import { z } from 'zod';

const finish = defineTool({
  name: 'finish',
  description: 'Ends the task with a report.',
  parameters: z.strictObject({ report: z.string() }),
  run: ({ report }) => new StepOutcome(report, { control: 'complete' }),
});

const script = new ScriptedModel([
  say('I think I am done.'),
  say(null, call('c1', 'finish', { report: 'Everything is in order.' })),
]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  handlers: [toolHandler(finish)],
  runtimePolicy: { requireExplicitFinish: true },
});

const result = await agent.run('Check that everything is in order, then call finish.');
console.log(result.stopReason, result.turns); // tool_completion 2
console.log(result.output); // Everything is in order.
await agent.shutdown();
