// What a model may do is decided before it is done: rules, an approver, and a middleware that keeps a list.
import {
  Agent,
  call,
  defineTool,
  modelFromEnv,
  RuleBasedToolPolicy,
  say,
  ScriptedModel,
  toolHandler,
  ToolPolicyMiddleware,
  type ToolApprover,
  type ToolMiddleware,
} from '@parley/harness';
import { z } from 'zod';

const place = z.strictObject({ path: z.string() });
const look = defineTool({
  name: 'look',
  description: 'Looks at a file.',
  effect: 'read_only',
  parameters: place,
  run: () => 'empty',
});
const remove = defineTool({
  name: 'remove',
  description: 'Removes a file.',
  parameters: place,
  run: ({ path }) => `removed ${path}`,
});

// An application asks a person here.
const approver: ToolApprover = {
  approve: ({ toolName }) => Promise.resolve({ approved: false, reason: `the operator does not want ${toolName}` }),
};
const policy = new RuleBasedToolPolicy([
  { ruleId: 'writes', action: 'require_approval', effects: ['side_effecting'], maxCallsPerRun: 5 },
  { ruleId: 'reads', action: 'allow', effects: ['read_only'], maxCallsPerRun: 20 },
]);
const audit: ToolMiddleware = {
  async handle(context, next) {
    const outcome = await next(context);
    console.log(`${context.tool.name}: ${outcome.control}`);
    return outcome;
  },
};

const script = new ScriptedModel([
  say(null, call('c1', 'look', { path: 'a.txt' })),
  say(null, call('c2', 'remove', { path: 'a.txt' })),
]);
const agent = new Agent(modelFromEnv(process.env, { offline: script }), {
  handlers: [toolHandler(look, remove)],
  middlewares: [audit, new ToolPolicyMiddleware(policy, { approver })],
});

const result = await agent.run('Remove a.txt if it is empty.');
console.log(result.status, result.stopReason); // rejected tool_rejected
await agent.shutdown();
