import type { ToolEffect } from '../enums.js';
import type { ToolCallContext } from '../tools/tool-handler.js';
import { RuleBasedToolPolicy } from './rule-based-tool-policy.js';
import type { ToolPolicyRule } from './tool-policy-rule.js';

function call(name: string, effect: ToolEffect = 'side_effecting', runId = 'run-1'): ToolCallContext {
  return {
    agentId: 'agent',
    runId,
    turn: 1,
    callId: 'c1',
    tool: { name, description: '', effect },
    arguments: {},
    signal: new AbortController().signal,
    progress: { report: async () => undefined },
  };
}

const task = (runId: string) => ({ agentId: 'agent', runId, task: 'go', signal: new AbortController().signal });

describe('rules', () => {
  it('are asked in order, and the first that matches decides', async () => {
    const policy = new RuleBasedToolPolicy([
      { ruleId: 'one', action: 'deny', tools: ['rm'] },
      { ruleId: 'two', action: 'allow', effects: ['side_effecting'], reason: 'trusted' },
      { ruleId: 'three', action: 'require_approval' },
    ]);
    expect(await policy.evaluate(call('rm'))).toStrictEqual({ action: 'deny', ruleId: 'one' });
    expect(await policy.evaluate(call('write'))).toStrictEqual({ action: 'allow', ruleId: 'two', reason: 'trusted' });
    expect(await policy.evaluate(call('read', 'read_only'))).toStrictEqual({
      action: 'require_approval',
      ruleId: 'three',
    });
  });

  it('need all of their selectors to match', async () => {
    const policy = new RuleBasedToolPolicy([
      { ruleId: 'r', action: 'allow', tools: ['read'], effects: ['read_only'], when: (context) => context.turn === 1 },
    ]);
    expect(await policy.evaluate(call('read', 'read_only'))).toMatchObject({ action: 'allow' });
    expect(await policy.evaluate(call('read'))).toStrictEqual({ action: 'deny' });
    expect(await policy.evaluate({ ...call('read', 'read_only'), turn: 2 })).toStrictEqual({ action: 'deny' });
  });

  it('deny by default, or do what was asked for', async () => {
    expect(await new RuleBasedToolPolicy([]).evaluate(call('x'))).toStrictEqual({ action: 'deny' });
    const open = new RuleBasedToolPolicy([], { defaultAction: 'allow', defaultReason: 'nothing to hide' });
    expect(await open.evaluate(call('x'))).toStrictEqual({ action: 'allow', reason: 'nothing to hide' });
  });

  it('go on after an asynchronous predicate said no', async () => {
    const policy = new RuleBasedToolPolicy([
      { ruleId: 'a', action: 'allow', when: async () => false },
      { ruleId: 'b', action: 'allow', when: async () => true },
    ]);
    expect(await policy.evaluate(call('x'))).toMatchObject({ ruleId: 'b' });
  });

  it.each([undefined, 1, 'true', null])('fail for a predicate that gives %p', async (answer) => {
    const sync = new RuleBasedToolPolicy([{ ruleId: 'a', action: 'allow', when: () => answer as never }]);
    const later = new RuleBasedToolPolicy([{ ruleId: 'a', action: 'allow', when: async () => answer as never }]);
    await expect(sync.evaluate(call('x'))).rejects.toThrow(TypeError);
    await expect(later.evaluate(call('x'))).rejects.toThrow(TypeError);
  });

  it('are read once: changing them later changes nothing', async () => {
    const tools = ['read'];
    const rule: ToolPolicyRule = { ruleId: 'a', action: 'allow', tools };
    const policy = new RuleBasedToolPolicy([rule]);
    tools.push('rm');
    Object.assign(rule, { action: 'allow', tools: undefined });
    expect(await policy.evaluate(call('rm'))).toStrictEqual({ action: 'deny' });
  });

  it.each<[string, unknown]>([
    ['a blank id', { ruleId: ' ', action: 'allow' }],
    ['an unknown action', { ruleId: 'a', action: 'permit' }],
    ['no tools at all', { ruleId: 'a', action: 'allow', tools: [] }],
    ['a text for a list', { ruleId: 'a', action: 'allow', tools: 'write' }],
    ['a blank tool', { ruleId: 'a', action: 'allow', tools: [''] }],
    ['no effects at all', { ruleId: 'a', action: 'allow', effects: [] }],
    ['an unknown effect', { ruleId: 'a', action: 'allow', effects: ['harmless'] }],
    ['a predicate that is no function', { ruleId: 'a', action: 'allow', when: true }],
    ['a limit of 0', { ruleId: 'a', action: 'allow', maxCallsPerRun: 0 }],
    ['a limit of 1.5', { ruleId: 'a', action: 'allow', maxCallsPerRun: 1.5 }],
    ['a limit that is no number', { ruleId: 'a', action: 'allow', maxCallsPerRun: Number.NaN }],
    ['a limit on a denial', { ruleId: 'a', action: 'deny', maxCallsPerRun: 1 }],
    ['a blank reason', { ruleId: 'a', action: 'allow', reason: '' }],
  ])('with %s are refused', (_what, rule) => {
    expect(() => new RuleBasedToolPolicy([rule as ToolPolicyRule])).toThrow(RangeError);
  });

  it('with one id twice are refused, and so are bad defaults', () => {
    const rule: ToolPolicyRule = { ruleId: 'a', action: 'allow' };
    expect(() => new RuleBasedToolPolicy([rule, { ...rule }])).toThrow('unique');
    expect(() => new RuleBasedToolPolicy([], { defaultAction: 'maybe' as never })).toThrow(RangeError);
    expect(() => new RuleBasedToolPolicy([], { defaultReason: '' })).toThrow(RangeError);
  });
});

describe('the limit of a rule', () => {
  const limited = (when?: () => Promise<boolean>) =>
    new RuleBasedToolPolicy([
      { ruleId: 'writes', action: 'require_approval', maxCallsPerRun: 2, ...(when !== undefined && { when }) },
    ]);
  const reached = { action: 'deny', reason: "tool call limit reached for policy rule 'writes'", ruleId: 'writes' };

  it('denies further calls with the rule and the reason, and does not fall through to the next rule', async () => {
    const policy = limited();
    await policy.evaluate(call('write'));
    await policy.evaluate(call('write'));
    expect(await policy.evaluate(call('write'))).toStrictEqual(reached);
  });

  it('holds for calls that are decided at the same time', async () => {
    const policy = limited(async () => true);
    const decisions = await Promise.all(Array.from({ length: 20 }, async () => policy.evaluate(call('write'))));
    expect(decisions.filter((decision) => decision.action === 'require_approval')).toHaveLength(2);
  });

  it('counts each run by itself, and begins anew with it', async () => {
    const policy = limited();
    for (const runId of ['run-1', 'run-2']) {
      for (let i = 0; i < 2; i += 1) {
        expect(await policy.evaluate(call('write', 'side_effecting', runId))).toMatchObject({
          action: 'require_approval',
        });
      }
      expect(await policy.evaluate(call('write', 'side_effecting', runId))).toStrictEqual(reached);
    }
    policy.onTask(task('run-1'));
    expect(await policy.evaluate(call('write'))).toMatchObject({ action: 'require_approval' });
    expect(await policy.evaluate(call('write', 'side_effecting', 'run-2'))).toStrictEqual(reached);
  });

  it('does not let another agent, whose run begins meanwhile, win back its places', async () => {
    const policy = limited();
    await policy.evaluate(call('write'));
    await policy.evaluate(call('write'));
    policy.onTask(task('run-of-another-agent'));
    expect(await policy.evaluate(call('write'))).toStrictEqual(reached);
  });
});
