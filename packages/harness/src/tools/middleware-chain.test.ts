import { defineTool } from './define-tool.js';
import { completed, contents, recordedTurn, settle, started, write } from './recorded-turn.test-helper.js';
import { StepOutcome } from './step-outcome.js';
import { toolHandler } from './tool-group.js';
import type { ToolCallContext, ToolMiddleware, ToolNext } from './tool-handler.js';
import { ToolRuntime } from './tool-runtime.js';

function failed(error: string): string {
  return `{"status": "error", "tool": "w", "error": ${JSON.stringify(error)}}`;
}

describe('middlewares', () => {
  const passing = (name: string, log: string[]): ToolMiddleware => ({
    handle: async (context, next) => {
      log.push(`${name}+`);
      const outcome = await next(context);
      log.push(`${name}-`);
      return outcome;
    },
  });

  async function through(middlewares: readonly ToolMiddleware[], calls: Parameters<typeof recordedTurn>[0] = ['w']) {
    let runs = 0;
    const runtime = await started(
      [
        write('w', (args) => {
          runs += 1;
          return args;
        }),
      ],
      { middlewares },
    );
    const turn = recordedTurn(calls);
    const outcome = await runtime.runTurn(turn);
    return { outcome, turn, runs: () => runs };
  }

  it('wrap every call, the first one outermost', async () => {
    const log: string[] = [];
    await through([passing('outer', log), passing('inner', log)]);
    expect(log).toEqual(['outer+', 'inner+', 'inner-', 'outer-']);
  });

  it('may change arguments, answer themselves, or change what comes back', async () => {
    const changing: ToolMiddleware = {
      handle: (context, next) => next({ ...context, arguments: { ...context.arguments, extra: 1 } }),
    };
    const answering: ToolMiddleware = {
      handle: async (context, next) =>
        'own' in context.arguments ? new StepOutcome('mine', { control: 'reject' }) : await next(context),
    };
    const changed = await through([changing, answering], ['w {"n": 0}', 'w {"own": 1}']);
    expect(contents(changed.turn)).toEqual(['{"n": 0, "extra": 1}', 'mine']);
    expect(changed.outcome).toMatchObject({ stopReason: 'tool_rejected', output: 'mine' });
    expect(changed.runs()).toBe(1);
  });

  it('that throw fail one call, not the rest of the batch', async () => {
    const { outcome, turn } = await through(
      [
        {
          handle: async (context, next) => {
            if (context.callId === 'c1') throw new Error('audit is down');
            const outcome = await next(context);
            if (context.callId === 'c2') throw new Error('after the tool');
            return outcome;
          },
        },
      ],
      ['w', 'w', 'w {"n": 3}'],
    );
    expect(outcome).toEqual({ kind: 'continue' });
    expect(contents(turn)).toEqual([failed('audit is down'), failed('after the tool'), '{"n": 3}']);
  });

  it.each<[string, ToolMiddleware['handle']]>([
    ['one after the other', async (context, next) => (await next(context), await next(context))],
    ['at the same time', async (context, next) => (await Promise.all([next(context), next(context)]))[0]],
    [
      'and hide it',
      async (context, next) => {
        const outcome = await next(context);
        await next(context).catch(() => undefined);
        return outcome;
      },
    ],
    [
      'without waiting',
      async (context, next) => {
        void next(context);
        return await next(context);
      },
    ],
  ])('that call next twice run the tool once and fail the call: %s', async (_title, handle) => {
    const { outcome, turn, runs } = await through([{ handle }]);
    expect(runs()).toBe(1);
    expect(outcome).toEqual({ kind: 'continue' });
    expect(contents(turn)).toEqual([failed('a tool middleware may call next only once')]);
  });

  it('that call next after their end run nothing', async () => {
    let late: (() => Promise<unknown>) | undefined;
    const { runs } = await through([
      {
        handle: async (context, next) => {
          late = () => next(context);
          return new StepOutcome('early');
        },
      },
    ]);
    await expect(late?.()).rejects.toMatchObject({ code: 'middleware_misuse' });
    expect(runs()).toBe(0);
  });

  it('that call next after their own end run nothing, though the call goes on further out', async () => {
    let late: Promise<unknown> | undefined;
    const { turn, runs } = await through([
      {
        handle: async (context, next) => {
          const outcome = await next(context);
          await late?.catch(() => undefined);
          return outcome;
        },
      },
      {
        handle: async (context, next) => {
          late = Promise.resolve()
            .then(settle)
            .then(() => next(context));
          return new StepOutcome('early');
        },
      },
    ]);
    await expect(late).rejects.toMatchObject({ code: 'middleware_misuse' });
    expect(contents(turn)).toEqual(['early']);
    expect(runs()).toBe(0);
  });

  it('that end without waiting for an approval further in start nothing any more', async () => {
    const approval = Promise.withResolvers<undefined>();
    let inner: Promise<unknown> | undefined;
    const { turn, runs } = await through([
      {
        handle: async (context, next) => {
          inner = next(context);
          return new StepOutcome('impatient');
        },
      },
      { handle: (context, next) => approval.promise.then(() => next(context)) },
    ]);
    expect(contents(turn)).toEqual(['impatient']);
    approval.resolve(undefined);
    await expect(inner).rejects.toMatchObject({ code: 'middleware_misuse' });
    expect(runs()).toBe(0);
  });

  it('that forget to give the outcome back fail the call', async () => {
    const forgetful = {
      handle: async (context: ToolCallContext, next: ToolNext) => {
        await next(context);
      },
    };
    const { turn } = await through([forgetful as unknown as ToolMiddleware]);
    expect(contents(turn)).toEqual([failed('a tool middleware gave back no StepOutcome')]);
  });

  it('that leave a failing call behind do not end the process', async () => {
    const rejections: unknown[] = [];
    const onRejection = (error: unknown) => rejections.push(error);
    process.on('unhandledRejection', onRejection);
    const runtime = await started([write('w', () => Promise.reject(new Error('unseen')))], {
      middlewares: [{ handle: async (context, next) => (void next(context), new StepOutcome('first')) }],
    });
    const turn = recordedTurn(['w']);
    await runtime.runTurn(turn);
    await settle();
    process.off('unhandledRejection', onRejection);
    expect(contents(turn)).toEqual(['first']);
    expect(rejections).toEqual([]);
  });

  it('do not see unknown tools or broken arguments', async () => {
    const log: string[] = [];
    await through([passing('m', log)], ['nope', 'w {"a']);
    expect(log).toEqual([]);
  });

  it('may send a call to another tool, but not to one that does not exist', async () => {
    const other = defineTool({ name: 'other', description: '', run: () => 'other' });
    const w = write('w', () => 'w');
    let target = other.definition;
    const runtime = new ToolRuntime({
      handlers: [toolHandler(w), toolHandler(other)],
      middlewares: [{ handle: (context, next) => next({ ...context, tool: target }) }],
    });
    await runtime.start(new AbortController().signal);
    const turn = recordedTurn(['w', 'w {"n":1}'], { onCommit: () => (target = { ...target, name: 'gone' }) });
    await runtime.runTurn(turn);
    expect(contents(turn)[0]).toBe('other');
    expect(completed(turn)[1]?.result.error).toBe("unknown tool 'gone'; available tools: other, w");
  });
});
