import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import {
  completed,
  contents,
  gated,
  order,
  read,
  recordedTurn,
  settle,
  started,
  stubborn,
  untilSignal,
  write,
} from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';

const parallel = { parallelToolCalls: true, maxParallelToolCalls: 2 };

function cancelled(tool: string, code: string, error: string): string {
  return `{"status": "cancelled", "tool": "${tool}", "code": "${code}", "error": "${error}"}`;
}

describe('abort', () => {
  it('before the first call starts none and settles all', async () => {
    let runs = 0;
    const runtime = await started([write('w', () => (runs += 1))]);
    const turn = recordedTurn(['w', 'w {"n":2}']);
    turn.controller.abort(new Error('just in between'));
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'aborted' });
    expect(runs).toBe(0);
    expect(order(turn)).toEqual(['started c1', 'completed c1', 'started c2', 'completed c2']);
    expect(contents(turn)).toEqual([
      cancelled('w', 'cancelled_before_start', 'just in between'),
      cancelled('w', 'cancelled_before_start', 'just in between'),
    ]);
  });

  it('while a call is announced does not start it', async () => {
    let runs = 0;
    const runtime = await started([write('w', () => (runs += 1))]);
    const turn = recordedTurn(['w'], {
      onEvent: ({ kind }, { controller }) => kind === 'tool_started' && controller.abort(new Error('stop')),
    });
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'aborted' });
    expect(runs).toBe(0);
    expect(contents(turn)).toEqual([cancelled('w', 'cancelled_before_start', 'stop')]);
  });

  it('during a call: a tool that throws for it has an unknown outcome, those behind it never started', async () => {
    const runtime = await started([write('hang', (_args, context) => untilSignal(context)), write('w', () => 'w')]);
    const turn = recordedTurn(['hang', 'w']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('stopped by user'));
    await expect(running).resolves.toEqual({ kind: 'aborted' });
    expect(contents(turn)).toEqual([
      cancelled('hang', 'outcome_unknown', 'stopped by user'),
      cancelled('w', 'cancelled_before_start', 'stopped by user'),
    ]);
    expect(completed(turn).map(({ result }) => [result.control, result.cancelled, result.error])).toEqual([
      ['continue', true, 'stopped by user'],
      ['continue', true, 'stopped by user'],
    ]);
  });

  it('keeps the real result of a tool that finishes in spite of it, and still ends the turn as aborted', async () => {
    const tool = gated('w', 'side_effecting');
    const runtime = await started([tool.tool]);
    const turn = recordedTurn(['w']);
    const running = runtime.runTurn(turn);
    await tool.arrived(1);
    turn.controller.abort(new Error('stop'));
    await settle();
    expect(order(turn)).toEqual(['started c1']);
    tool.waiting[0]?.resolve(new StepOutcome('written', { control: 'complete' }));
    await expect(running).resolves.toEqual({ kind: 'aborted' });
    expect(completed(turn)[0]?.result).toEqual({
      message: { role: 'tool', toolCallId: 'c1', content: 'written' },
      control: 'complete',
      cancelled: false,
      error: null,
    });
  });

  it('in a parallel batch keeps what had ended and settles the rest', async () => {
    const runtime = await started(
      [read('a', (_args, context) => untilSignal(context)), read('b', () => ({ v: 'b' })), write('w', () => 'w')],
      { policy: parallel },
    );
    const turn = recordedTurn(['a', 'b', 'w']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('now'));
    await running;
    expect(order(turn)).toEqual([
      'started c1',
      'started c2',
      'completed c1',
      'completed c2',
      'started c3',
      'completed c3',
    ]);
    expect(contents(turn)).toEqual([
      cancelled('a', 'outcome_unknown', 'now'),
      '{"v": "b"}',
      cancelled('w', 'cancelled_before_start', 'now'),
    ]);
  });

  it('without a reason uses a fixed text', async () => {
    const runtime = await started([]);
    const turn = recordedTurn(['w']);
    turn.controller.abort();
    await runtime.runTurn(turn);
    expect(completed(turn)[0]?.result.error).toBe('agent run was aborted');
  });

  it('after the last result still ends the turn as aborted', async () => {
    const runtime = await started([write('end', () => new StepOutcome('bye', { control: 'complete' }))]);
    const turn = recordedTurn(['end'], {
      onCommit: (_messages, { controller }) => controller.abort(new Error('late')),
    });
    await expect(runtime.runTurn(turn)).resolves.toEqual({ kind: 'aborted' });
    expect(contents(turn)).toEqual(['bye']);
  });

  it('does not start a tool whose approval comes after it', async () => {
    const approval = Promise.withResolvers<undefined>();
    let runs = 0;
    const runtime = await started([write('w', () => (runs += 1))], {
      middlewares: [
        {
          handle: async (context, next) => {
            await approval.promise;
            return await next(context);
          },
        },
      ],
    });
    const turn = recordedTurn(['w']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('stop'));
    approval.resolve(undefined);
    await running;
    expect(runs).toBe(0);
    expect(contents(turn)).toEqual([cancelled('w', 'cancelled_before_start', 'stop')]);
  });

  it('leaves no listener on a signal that lives through two hundred calls', async () => {
    const runtime = await started([read('r', () => 'r'), write('w', () => 'w')], {
      policy: { ...parallel, repeatLimit: 1_000, toolTimeoutMs: 60_000 },
    });
    const { signal } = new AbortController();
    for (let index = 0; index < 50; index += 1) {
      const turn = { ...recordedTurn(['r', 'r', 'w', 'r']), signal };
      await runtime.runTurn(turn);
      await runtime.onTask({ agentId: 'agent', runId: 'run', task: 'go', signal });
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('grace', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('is five seconds; then the outcome counts as unknown and a late rejection hurts nobody', async () => {
    const late = Promise.withResolvers<never>();
    const warnings: string[] = [];
    const runtime = await started([write('stubborn', () => late.promise)], {
      logger: { warn: (message) => warnings.push(message) },
    });
    const turn = recordedTurn(['stubborn']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('now'));
    await jest.advanceTimersByTimeAsync(4_999);
    expect(order(turn)).toEqual(['started c1']);
    await jest.advanceTimersByTimeAsync(1);
    await expect(running).resolves.toEqual({ kind: 'aborted' });
    expect(contents(turn)).toEqual([cancelled('stubborn', 'outcome_unknown', 'now')]);
    expect(warnings).toEqual(['a tool did not stop when it was asked to']);
    late.reject(new Error('far too late'));
    await settle();
    expect(completed(turn)).toHaveLength(1);
  });

  it('is shared by the calls of a batch', async () => {
    const runtime = await started([read('a', stubborn)], { policy: { ...parallel, abortGraceMs: 100 } });
    const turn = recordedTurn(['a', 'a']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('now'));
    await jest.advanceTimersByTimeAsync(100);
    await expect(running).resolves.toEqual({ kind: 'aborted' });
    expect(completed(turn)).toHaveLength(2);
  });

  it('settles the call even if the logger fails', async () => {
    const runtime = await started([write('stubborn', stubborn)], {
      logger: {
        warn: () => {
          throw new Error('log is full');
        },
      },
    });
    const turn = recordedTurn(['stubborn']);
    const running = runtime.runTurn(turn);
    await settle();
    turn.controller.abort(new Error('now'));
    await jest.advanceTimersByTimeAsync(5_000);
    await expect(running).resolves.toEqual({ kind: 'aborted' });
    expect(completed(turn)).toHaveLength(1);
  });

  it('accepts a time that timers of the runtime cannot hold', async () => {
    const tool = gated('w');
    const runtime = await started([tool.tool], { policy: { abortGraceMs: Infinity, toolTimeoutMs: 1e12 } });
    const turn = recordedTurn(['w']);
    const running = runtime.runTurn(turn);
    await tool.arrived(1);
    turn.controller.abort(new Error('now'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(order(turn)).toEqual(['started c1']);
    tool.waiting[0]?.resolve('x');
    await running;
  });
});

describe('time-out of a call', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const policy = { toolTimeoutMs: 50, abortGraceMs: 20 };

  it('aborts the call alone; the model gets an error and the run goes on', async () => {
    const reasons: unknown[] = [];
    const runtime = await started(
      [
        write('slow', async (_args, context) => {
          await untilSignal(context).catch((error: unknown) => reasons.push(error));
          throw new Error('stopped');
        }),
        write('w', () => 'w'),
      ],
      { policy },
    );
    const turn = recordedTurn(['slow', 'w']);
    const running = runtime.runTurn(turn);
    await jest.advanceTimersByTimeAsync(50);
    await expect(running).resolves.toEqual({ kind: 'continue' });
    expect(reasons).toMatchObject([{ code: 'tool_timeout' }]);
    expect(contents(turn)).toEqual([
      `{"status": "error", "tool": "slow", "code": "tool_timeout", "error": "tool 'slow' timed out after 50 ms"}`,
      'w',
    ]);
    expect(completed(turn)[0]?.result.cancelled).toBe(false);
  });

  it('says that the outcome is unknown if the tool does not stop', async () => {
    const runtime = await started([write('slow', stubborn)], { policy });
    const turn = recordedTurn(['slow']);
    const running = runtime.runTurn(turn);
    await jest.advanceTimersByTimeAsync(69);
    expect(order(turn)).toEqual(['started c1']);
    await jest.advanceTimersByTimeAsync(1);
    await expect(running).resolves.toEqual({ kind: 'continue' });
    expect(completed(turn)[0]?.result.error).toBe(
      "tool 'slow' timed out after 50 ms; it did not stop, its outcome is unknown",
    );
  });

  it('says that a result came too late', async () => {
    const tool = gated('slow');
    const runtime = await started([tool.tool], { policy });
    const turn = recordedTurn(['slow']);
    const running = runtime.runTurn(turn);
    await jest.advanceTimersByTimeAsync(55);
    tool.waiting[0]?.resolve('done');
    await running;
    expect(completed(turn)[0]?.result.error).toMatch(/timed out after 50 ms; it ended too late/u);
  });

  it('does not run while a middleware waits for an approval', async () => {
    const approval = Promise.withResolvers<undefined>();
    const runtime = await started([write('w', () => 'w')], {
      policy,
      middlewares: [{ handle: (context, next) => approval.promise.then(() => next(context)) }],
    });
    const turn = recordedTurn(['w']);
    const running = runtime.runTurn(turn);
    await jest.advanceTimersByTimeAsync(1_000);
    approval.resolve(undefined);
    await running;
    expect(contents(turn)).toEqual(['w']);
  });

  it('stays an error of the call if the run is aborted after it', async () => {
    const runtime = await started([write('slow', stubborn)], { policy });
    const turn = recordedTurn(['slow']);
    const running = runtime.runTurn(turn);
    await jest.advanceTimersByTimeAsync(60);
    turn.controller.abort(new Error('stop'));
    await jest.advanceTimersByTimeAsync(10);
    await expect(running).resolves.toEqual({ kind: 'aborted' });
    expect(contents(turn)[0]).toContain('"code": "tool_timeout"');
  });
});

describe('a failing commit', () => {
  const failure = new Error('disk full');
  const onCommit = () => Promise.reject(failure);

  it('is passed on, and nothing more starts', async () => {
    let runs = 0;
    const runtime = await started([write('w', () => (runs += 1))]);
    const turn = recordedTurn(['w', 'w {"n":2}'], { onCommit });
    await expect(runtime.runTurn(turn)).rejects.toBe(failure);
    expect(runs).toBe(1);
    expect(order(turn)).toEqual(['started c1']);
  });

  it('aborts what runs beside it and waits until it has ended', async () => {
    let ended = false;
    const runtime = await started(
      [
        read('a', () => 'a'),
        read('b', async (_args, context) => {
          await untilSignal(context).catch(() => undefined);
          await settle();
          ended = true;
        }),
      ],
      { policy: parallel },
    );
    const turn = recordedTurn(['a', 'b', 'b'], { onCommit });
    await expect(runtime.runTurn(turn)).rejects.toBe(failure);
    expect(ended).toBe(true);
    expect(getEventListeners(turn.signal, 'abort')).toHaveLength(0);
  });

  it('does not wait for ever', async () => {
    const runtime = await started([read('a', () => 'a'), read('b', stubborn)], {
      policy: { ...parallel, abortGraceMs: 5 },
    });
    await expect(runtime.runTurn(recordedTurn(['a', 'b'], { onCommit }))).rejects.toBe(failure);
  });

  it('lets no call begin that an observer still holds back', async () => {
    let runs = 0;
    const hold = Promise.withResolvers<undefined>();
    const runtime = await started([read('a', () => 'a'), read('b', () => (runs += 1))], { policy: parallel });
    const turn = recordedTurn(['a', 'b'], {
      onCommit,
      observers: [
        {
          aroundRun: (_run, work) => work(),
          aroundModelRequest: (_request, work) => work(),
          aroundToolCall: async (call, work) => {
            if (call.toolCall.name === 'b') await hold.promise;
            return await work();
          },
        },
      ],
    });
    const running = runtime.runTurn(turn);
    await settle();
    hold.resolve(undefined);
    await expect(running).rejects.toBe(failure);
    expect(runs).toBe(0);
  });
});
