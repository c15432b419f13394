// Tokens are counted and limited. What a provider does not report is unknown, not zero.
import { Agent, call, defineTool, say, ScriptedModel, toolHandler } from '@parley/harness';
import { z } from 'zod';

const work = defineTool({
  name: 'work',
  description: 'Does one step.',
  parameters: z.strictObject({ step: z.int() }),
  run: ({ step }) => `step ${step} done`,
});
const script = new ScriptedModel(
  [1, 2, 3, 4].map((step) => say(null, call(`c${step}`, 'work', { step }))),
  { whenExhausted: say('All steps are done.') },
);
const agent = new Agent(script, { handlers: [toolHandler(work)] });

const result = await agent.run('Do four steps.', { budget: { maxTotalTokens: 25 } });
console.log(result.stopReason, result.usage.totalTokens, result.usage.requestCount); // token_budget_exceeded 30 3
console.log(agent.canContinue); // true

const rest = await agent.continueRun({ budget: { maxTotalTokens: 100 } });
console.log(rest.output, rest.usage.totalTokens); // All steps are done. 20
await agent.shutdown();
