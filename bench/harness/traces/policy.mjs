import {
  MethodToolHandler,
  RuleBasedToolPolicy,
  ToolPolicyMiddleware,
  ToolSchemaValidationMiddleware,
} from '@parley/harness';
import { Lab, call, say } from './lab.mjs';

/** Answers every question alike, or fails, and remembers what it was asked. */
class Approver {
  asked = [];

  constructor(answer) {
    this.answer = answer;
  }

  async approve({ toolName, arguments: args, callId, reason, ruleId }) {
    this.asked.push([toolName, { ...args }, callId, reason, ruleId]);
    if (this.answer instanceof Error) throw this.answer;
    return this.answer;
  }
}

const rules = (action, maxCallsPerRun) =>
  new RuleBasedToolPolicy([
    {
      ruleId: 'writes',
      action,
      effects: ['side_effecting'],
      reason: 'changes things',
      ...(maxCallsPerRun === undefined ? {} : { maxCallsPerRun }),
    },
    { ruleId: 'reads', action: 'allow', effects: ['read_only'] },
  ]);

async function judged(policy, calls, ...rest) {
  const lab = new Lab([say(null, ...calls), ...rest], { middlewares: [policy] });
  await lab.run();
  return lab;
}

const asking = (approver) =>
  new ToolPolicyMiddleware(rules('require_approval'), approver === undefined ? {} : { approver });
const write = (args = { x: 1 }) => [call('c1', 'write', args)];

class Many extends MethodToolHandler {
  constructor() {
    const names = [0, 1, 2, 3, 4, 5].map((i) => `p${i}`);
    super([
      {
        name: 'many',
        description: 'm',
        effect: 'side_effecting',
        parameters: {
          type: 'object',
          properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
        },
      },
    ]);
  }

  async doMany() {
    return 'never';
  }
}

class Bad extends MethodToolHandler {
  constructor() {
    super([
      {
        name: 'bad',
        description: 'm',
        effect: 'side_effecting',
        parameters: { type: 'object', properties: { n: { type: 'objekt' } } },
      },
    ]);
  }

  async doBad() {
    return 'never';
  }
}

export const policyAndValidation = {
  policy_deny: () => judged(new ToolPolicyMiddleware(rules('deny')), write({ secret: 'S3CR3T' })),
  policy_approved: async () => {
    const approver = new Approver({ approved: true });
    const lab = await judged(asking(approver), write(), say('ok'));
    lab.notes.asked = approver.asked;
    return lab;
  },
  policy_not_approved: () => judged(asking(new Approver({ approved: false, reason: 'operator denied' })), write()),
  policy_no_approver: () => judged(asking(), write()),
  policy_approver_throws: () => judged(asking(new Approver(new Error('ui down'))), write()),
  policy_limit: () =>
    judged(
      new ToolPolicyMiddleware(rules('allow', 2)),
      [1, 2, 3].map((x) => call(`c${x}`, 'write', { x })),
      say('ok'),
    ),
  policy_unknown_tool: () => judged(new ToolPolicyMiddleware(rules('deny')), [call('c1', 'nope')], say('ok')),
  validation_errors: () =>
    judged(
      new ToolSchemaValidationMiddleware(),
      [call('c1', 'typed', { n: 'x', extra: 1 }), call('c2', 'typed', {}), call('c3', 'typed', { n: 4 })],
      say('ok'),
    ),
  validation_truncated: async () => {
    const args = Object.fromEntries([0, 1, 2, 3, 4, 5].map((i) => [`p${i}`, 'x']));
    const lab = new Lab([say(null, call('c1', 'many', args)), say('ok')], {
      handlers: [new Many()],
      middlewares: [new ToolSchemaValidationMiddleware({ maxErrors: 3 })],
    });
    await lab.run();
    return lab;
  },
  validation_bad_schema: async () => {
    const lab = new Lab([say('x')], {
      handlers: [new Bad()],
      middlewares: [new ToolSchemaValidationMiddleware()],
    });
    await lab.run();
    return lab;
  },
};
