// An agent that is spoken to while it works: steering, a follow-up, an abort, and going on.
import { once } from 'node:events';
import { Agent, call, defineTool, say, ScriptedModel, toolHandler, type AgentEvent } from '@parley/harness';
import { z } from 'zod';

const dig = defineTool({
  name: 'dig',
  description: 'Takes its time.',
  parameters: z.strictObject({}),
  run: async (_args, { signal }) => {
    await once(signal, 'abort');
    throw signal.reason;
  },
});
const script = new ScriptedModel([
  () => {
    console.log('steer:', agent.steer('Do not touch the database.').status); // accepted
    console.log('follow up:', agent.followUp('Now write it down.').receipt.status); // accepted
    return say('Here is the plan.');
  },
  say('Here is the plan, without the database.'),
  say('It is written down.'),
  say(null, call('c1', 'dig', {})),
]);
const agent = new Agent(script, {
  handlers: [toolHandler(dig)],
  sinks: [
    {
      emit({ payload }: AgentEvent) {
        if (payload.kind === 'tool_started') agent.abort('enough');
      },
    },
  ],
});

console.log((await agent.run('Make a plan.')).output); // Here is the plan, without the database.
await agent.waitForIdle();
console.log(agent.lastResult?.output); // It is written down.

const aborted = await agent.run('Dig.');
console.log(aborted.status, aborted.error); // cancelled enough
console.log(agent.continueRejectionReason); // unsupported_stop_reason
// The call has its result all the same: the history stays fit to be sent.
console.log(agent.messages.at(-1)?.role); // tool
await agent.shutdown();
