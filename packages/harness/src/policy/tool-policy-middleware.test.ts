import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import { StepOutcome } from '../tools/step-outcome.js';
import type { ToolCallContext } from '../tools/tool-handler.js';
import { RuleBasedToolPolicy } from './rule-based-tool-policy.js';
import type { ToolApprovalRequest, ToolApprover } from './tool-approver.js';
import { ToolPolicyMiddleware, type ToolPolicyMiddlewareOptions } from './tool-policy-middleware.js';
import type { ToolExecutionPolicy } from './tool-policy.js';

const done = new StepOutcome('written');

function call(changes: Partial<ToolCallContext> = {}): ToolCallContext {
  return {
    agentId: 'agent',
    runId: 'run-1',
    turn: 2,
    callId: 'c1',
    tool: { name: 'write', description: '', effect: 'side_effecting' },
    arguments: { secret: 'hunter2' },
    signal: new AbortController().signal,
    progress: { report: async () => undefined },
    ...changes,
  };
}

const asking = new RuleBasedToolPolicy([
  { ruleId: 'writes', action: 'require_approval', tools: ['write'], reason: 'changes things' },
]);

async function outcomeOf(policy: ToolExecutionPolicy, options: ToolPolicyMiddlewareOptions = {}, context = call()) {
  const next = jest.fn(async () => done);
  const outcome = await new ToolPolicyMiddleware(policy, options).handle(context, next);
  return { outcome, data: outcome.data, control: outcome.control, ran: next.mock.calls.length > 0 };
}

const approver = (approve: ToolApprover['approve']): ToolApprover => ({ approve });

function rejected(reason: string, ruleId?: string) {
  return {
    status: 'rejected',
    tool: 'write',
    reason,
    ...(ruleId !== undefined && { rule_id: ruleId }),
  };
}

describe('a policy in front of tools', () => {
  it('lets allowed calls through and gives back what the tool gave', async () => {
    const { outcome, ran } = await outcomeOf(new RuleBasedToolPolicy([{ ruleId: 'all', action: 'allow' }]));
    expect(ran).toBe(true);
    expect(outcome).toBe(done);
  });

  it('ends the run for a denied call, with the reason of the rule and without the arguments', async () => {
    const rule = { ruleId: 'writes', action: 'deny', reason: 'changes things' } as const;
    const { data, control, ran } = await outcomeOf(new RuleBasedToolPolicy([rule]));
    expect(data).toStrictEqual(rejected('changes things', 'writes'));
    expect(control).toBe('reject');
    expect(ran).toBe(false);
    expect(JSON.stringify(data)).not.toContain('hunter2');
  });

  it('names no rule when none matched', async () => {
    const { data } = await outcomeOf(new RuleBasedToolPolicy([]));
    expect(data).toStrictEqual(rejected('tool execution denied by policy'));
  });

  it('tells only the model when told to', async () => {
    const { data, control, ran } = await outcomeOf(new RuleBasedToolPolicy([]), { denial: 'tell_model' });
    expect(data).toStrictEqual(rejected('tool execution denied by policy'));
    expect(control).toBe('continue');
    expect(ran).toBe(false);
  });

  it('denies when the policy throws, at once or later', async () => {
    const warn = jest.fn();
    const failing = { evaluate: () => Promise.reject(new Error('no rules')) };
    const { data } = await outcomeOf(failing, { logger: { warn } });
    expect(data).toStrictEqual(rejected('tool policy evaluation failed'));
    expect(warn).toHaveBeenCalledTimes(1);
    const throwing: ToolExecutionPolicy = {
      evaluate: () => {
        throw new Error('no rules');
      },
    };
    expect((await outcomeOf(throwing)).data).toStrictEqual(rejected('tool policy evaluation failed'));
  });

  it.each([
    undefined,
    null,
    'allow',
    { action: 'yes' },
    { action: 'allow', reason: 7 },
    { action: 'allow', ruleId: {} },
  ])('denies when the policy answers %p', async (answer) => {
    const { data, ran } = await outcomeOf({ evaluate: () => answer as never });
    expect(data).toStrictEqual(rejected('tool policy returned an invalid decision'));
    expect(ran).toBe(false);
  });

  it('denies when the policy does not answer in time', async () => {
    const { data } = await outcomeOf({ evaluate: () => new Promise(() => undefined) }, { evaluationTimeoutMs: 5 });
    expect(data).toStrictEqual(rejected('tool policy evaluation failed'));
  });

  it('passes starts, tasks and stops on to the policy', async () => {
    const policy = { start: jest.fn(), stop: jest.fn(async () => undefined), onTask: jest.fn(), evaluate: jest.fn() };
    const middleware = new ToolPolicyMiddleware(policy as unknown as ToolExecutionPolicy);
    const { signal } = new AbortController();
    const task = { agentId: 'agent', runId: 'run-1', task: 'go', signal };
    await middleware.start([], signal);
    await middleware.onTask(task);
    await middleware.stop();
    expect(policy.start).toHaveBeenCalledWith(signal);
    expect(policy.onTask).toHaveBeenCalledWith(task);
    expect(policy.stop).toHaveBeenCalledTimes(1);
  });

  it.each([
    { approvalTimeoutMs: 0 },
    { approvalTimeoutMs: Number.NaN },
    { approvalTimeoutMs: 2 ** 31 },
    { evaluationTimeoutMs: 1.5 },
    { denial: 'ignore' as never },
  ])('refuses %p', (options) => {
    expect(() => new ToolPolicyMiddleware(asking, options)).toThrow(RangeError);
  });
});

describe('approval', () => {
  it('runs the tool after consent and tells the approver what is asked', async () => {
    const asked: ToolApprovalRequest[] = [];
    const yes = approver(async (request) => {
      asked.push(request);
      return { approved: true };
    });
    const { outcome, ran } = await outcomeOf(asking, { approver: yes });
    expect(ran).toBe(true);
    expect(outcome).toBe(done);
    expect(asked).toStrictEqual([
      {
        agentId: 'agent',
        runId: 'run-1',
        turn: 2,
        callId: 'c1',
        toolName: 'write',
        arguments: { secret: 'hunter2' },
        effect: 'side_effecting',
        reason: 'changes things',
        ruleId: 'writes',
      },
    ]);
  });

  it('runs what was approved, whatever the approver does with its copy', async () => {
    const context = call({ arguments: { path: { name: 'a' } } });
    const sly = approver(async (request) => {
      Object.assign(request.arguments['path'] as object, { name: 'b' });
      return { approved: true };
    });
    await outcomeOf(asking, { approver: sly }, context);
    expect(context.arguments).toStrictEqual({ path: { name: 'a' } });
  });

  it.each([
    ['the reason of the answer', { approved: false, reason: 'operator denied' }, 'operator denied'],
    ['the reason of the rule', { approved: false }, 'changes things'],
    ['the reason of the rule for a blank one', { approved: false, reason: ' ' }, 'changes things'],
  ])('denies with %s', async (_what, answer, reason) => {
    const { data, control, ran } = await outcomeOf(asking, { approver: approver(async () => answer) });
    expect(data).toStrictEqual(rejected(reason, 'writes'));
    expect(control).toBe('reject');
    expect(ran).toBe(false);
  });

  it('has words for a refusal that nobody gave a reason for', async () => {
    const silent = new RuleBasedToolPolicy([{ ruleId: 'writes', action: 'require_approval' }]);
    const { data } = await outcomeOf(silent, { approver: approver(async () => ({ approved: false })) });
    expect(data).toStrictEqual(rejected('tool execution approval was denied', 'writes'));
  });

  it('denies without an approver', async () => {
    const { data, ran } = await outcomeOf(asking);
    expect(data).toStrictEqual(rejected('tool execution requires approval but no approver is configured', 'writes'));
    expect(ran).toBe(false);
  });

  it('denies when the approver throws, at once or later', async () => {
    const later = approver(() => Promise.reject(new Error('down')));
    const atOnce = approver(() => {
      throw new Error('down');
    });
    for (const failing of [later, atOnce]) {
      const { data, ran } = await outcomeOf(asking, { approver: failing });
      expect(data).toStrictEqual(rejected('tool approval failed', 'writes'));
      expect(ran).toBe(false);
    }
  });

  it.each([undefined, true, 'yes', {}, { approved: 'true' }, { approved: 1 }, { approved: true, reason: 5 }])(
    'denies for the answer %p',
    async (answer) => {
      const { data, ran } = await outcomeOf(asking, { approver: approver(async () => answer as never) });
      expect(data).toStrictEqual(rejected('tool approver returned an invalid decision', 'writes'));
      expect(ran).toBe(false);
    },
  );

  it('denies when there is no answer in time, and tells the approver that the question is over', async () => {
    let asked: AbortSignal | undefined;
    const slow = approver((_request, signal) => {
      asked = signal;
      return new Promise(() => undefined);
    });
    const { data } = await outcomeOf(asking, { approver: slow, approvalTimeoutMs: 5 });
    expect(data).toStrictEqual(rejected('tool approval timed out', 'writes'));
    expect(asked?.aborted).toBe(true);
  });

  it('does not wait for an approver once the run is aborted, and never starts the tool', async () => {
    const run = new AbortController();
    const next = jest.fn(async () => done);
    const asked = Promise.withResolvers<AbortSignal>();
    const stubborn = approver((_request, signal) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    });
    const handled = new ToolPolicyMiddleware(asking, { approver: stubborn }).handle(call({ signal: run.signal }), next);
    const question = await asked.promise;
    const reason = new Error('stop');
    run.abort(reason);
    await expect(handled).rejects.toBe(reason);
    expect(question.reason).toBe(reason);
    expect(next).not.toHaveBeenCalled();
  });

  it('does not start the tool when consent and abort come together', async () => {
    const run = new AbortController();
    const next = jest.fn(async () => done);
    const yes = approver(async () => {
      queueMicrotask(() => run.abort(new Error('stop')));
      return { approved: true };
    });
    const handled = new ToolPolicyMiddleware(asking, { approver: yes }).handle(call({ signal: run.signal }), next);
    await expect(handled).rejects.toThrow('stop');
    expect(next).not.toHaveBeenCalled();
  });

  it('is not needed, and the tool not started, for a run that is aborted already', async () => {
    const next = jest.fn(async () => done);
    const aborted = call({ signal: AbortSignal.abort(new Error('stop')) });
    const open = new RuleBasedToolPolicy([], { defaultAction: 'allow' });
    await expect(new ToolPolicyMiddleware(open).handle(aborted, next)).rejects.toThrow('stop');
    expect(next).not.toHaveBeenCalled();
  });

  it('outlives an approver that aborts the run and throws', async () => {
    const run = new AbortController();
    const wild = approver(() => {
      run.abort(new Error('stop'));
      throw new Error('and more');
    });
    const handled = new ToolPolicyMiddleware(asking, { approver: wild }).handle(
      call({ signal: run.signal }),
      async () => done,
    );
    await expect(handled).rejects.toThrow('stop');
  });

  it('leaves no listener on the signal of the run', async () => {
    const { signal } = new AbortController();
    const yes = approver(async () => ({ approved: true }));
    const no = approver(async () => ({ approved: false }));
    const failing = approver(() => Promise.reject(new Error()));
    for (let i = 0; i < 100; i += 1) {
      for (const each of [yes, no, failing]) await outcomeOf(asking, { approver: each }, call({ signal }));
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
