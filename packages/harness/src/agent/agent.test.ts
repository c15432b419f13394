import { getEventListeners } from 'node:events';
import { at, Lab } from '../../test-support/lab.js';
import { MemoryJournal } from '../../test-support/memory-journal.js';
import type { Message } from '../messages.js';
import { call, say, ScriptedModel, sayWith } from '../model/scripted-model.js';
import { AgentActiveError, AgentShutDownError, ContinueRejectedError, HistoryError } from '../run/run-errors.js';
import type { Session } from '../session/session-types.js';
import type { ToolMiddleware } from '../tools/tool-handler.js';
import { Agent } from './agent.js';

const NEVER = (): Promise<never> => new Promise(() => undefined);

describe('the state of an agent', () => {
  it('is idle, then running, then that of the last run', async () => {
    const lab = new Lab([say('x'), new Error('down')]);
    const { agent } = lab;
    expect([agent.status, agent.lastResult, agent.messages]).toEqual(['idle', null, []]);
    const run = lab.run();
    expect(agent.status).toBe('running');
    await run;
    expect(agent.status).toBe('completed');
    await lab.run();
    expect(agent.status).toBe('failed');
  });

  it('is free at once for whoever waited for the run', async () => {
    const { agent } = new Lab([say('x'), say('y')]);
    await agent.run('go');
    expect(agent.canContinue).toBe(true);
    expect(await agent.continueRun()).toMatchObject({ output: 'y' });
  });

  it('holds the result while the last event is shown', async () => {
    const seen: unknown[] = [];
    const lab = new Lab([say('x')], {
      onEvent: ({ payload }, { agent }) => {
        if (payload.kind === 'agent_finished') seen.push(agent.lastResult === payload.result, agent.status);
      },
    });
    await lab.run();
    expect(seen).toEqual([true, 'running']);
  });

  it('gives its messages away as a copy', async () => {
    const lab = new Lab([say('x'), say('y')]);
    await lab.run();
    const before = lab.agent.messages;
    await lab.run();
    expect(before).toHaveLength(2);
  });

  it('lets direct runs come one after the other, in the order of the calls', async () => {
    const lab = new Lab([say('1'), say('2'), say('3')]);
    const results = await Promise.all(['a', 'b', 'c'].map((task) => lab.agent.run(task)));
    expect(results.map(({ output }) => output)).toEqual(['1', '2', '3']);
    expect(lab.trace.filter((each) => each.startsWith('agent_'))).toEqual([
      ...['agent_started a', 'agent_finished text_response'],
      ...['agent_started b', 'agent_finished text_response'],
      ...['agent_started c', 'agent_finished text_response'],
    ]);
  });

  it("leaves no listener on a caller's signal", async () => {
    const caller = new AbortController();
    const model = new ScriptedModel([], {
      whenExhausted: ({ messages }) => (messages.at(-1)?.role === 'tool' ? say('ok') : say(null, call('', 'write'))),
    });
    const lab = new Lab(model);
    for (let run = 0; run < 200; run += 1) await lab.agent.run('go', { signal: caller.signal });
    await Promise.all([1, 2, 3].map(() => lab.agent.run('go', { signal: caller.signal })));
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
    expect(lab.results.every(({ stopReason }) => stopReason === 'text_response')).toBe(true);
  });

  it('lets a run leave the line when its signal is aborted, and tells of it by the result alone', async () => {
    const lab = new Lab([NEVER, say('third')]);
    const caller = new AbortController();
    const first = lab.agent.run('first');
    const second = lab.agent.run('second', { signal: caller.signal });
    const third = lab.agent.run('third');
    await lab.requested(1);
    caller.abort(new Error('no longer wanted'));
    expect(await second).toMatchObject({ stopReason: 'external_abort', error: 'no longer wanted', turns: 0 });
    expect(lab.agent.abort()).toBe(true);
    expect(await first).toMatchObject({ stopReason: 'external_abort' });
    expect(await third).toMatchObject({ output: 'third' });
    expect(lab.trace.filter((each) => each.startsWith('agent_started'))).toEqual([
      'agent_started first',
      'agent_started third',
    ]);
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  });
});

describe('continuing', () => {
  it('is refused for the first reason that holds', async () => {
    const lab = new Lab([say('x'), new Error('down'), NEVER]);
    const { agent } = lab;
    const reasons = [agent.continueRejectionReason];
    await expect(agent.continueRun()).rejects.toThrow(new ContinueRejectedError('no_previous_run'));
    await lab.run();
    reasons.push(agent.continueRejectionReason);
    await lab.run();
    reasons.push(agent.continueRejectionReason);
    const run = lab.run();
    reasons.push(agent.continueRejectionReason);
    await expect(agent.continueRun()).rejects.toMatchObject({ code: 'continue_rejected', reason: 'agent_active' });
    const closing = agent.shutdown();
    reasons.push(agent.continueRejectionReason);
    await Promise.all([run, closing]);
    expect(reasons).toEqual([
      'no_previous_run',
      null,
      'unsupported_stop_reason',
      'agent_active',
      'agent_shutting_down',
    ]);
  });

  it('goes on from the history without another user message', async () => {
    const lab = new Lab([say(null, call('c1', 'finish')), say('and so on')]);
    await lab.run();
    await lab.agent.continueRun();
    await lab.check();
    expect(lab.lastTrace).toEqual([
      'agent_continued',
      'turn_started 1',
      'message_completed',
      'turn_completed 1',
      'agent_finished text_response',
    ]);
    expect(lab.agent.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
  });
});

describe('starting', () => {
  const part = (name: string, log: string[], fails = false) => ({
    tools: [],
    start: async () => {
      log.push(`start ${name}`);
      if (fails) throw new Error(`${name} is broken`);
    },
    stop: async () => void log.push(`stop ${name}`),
    call: () => Promise.resolve('x'),
    handle: ((context, next) => next(context)) satisfies ToolMiddleware['handle'],
  });
  const modelWith = (log: string[], steps: ConstructorParameters<typeof ScriptedModel>[0]) =>
    Object.assign(new ScriptedModel(steps), {
      start: async () => void log.push('start model'),
      stop: async () => void log.push('stop model'),
    });

  it('happens once, in order, and shutdown undoes it in reverse', async () => {
    const log: string[] = [];
    const lab = new Lab(modelWith(log, [say('1'), say('2')]), {
      handlers: [part('h1', log), part('h2', log)],
      middlewares: [part('m1', log)],
    });
    await lab.agent.start();
    await lab.run();
    await lab.run();
    await lab.agent.shutdown();
    await lab.agent.shutdown();
    expect(log).toEqual([
      ...['start model', 'start h1', 'start h2', 'start m1'],
      ...['stop m1', 'stop h2', 'stop h1', 'stop model'],
    ]);
  });

  it('that fails is a result with its two events, rolls back in reverse and leaves the history alone', async () => {
    const log: string[] = [];
    const lab = new Lab(modelWith(log, [say('never')]), { handlers: [part('h1', log), part('h2', log, true)] });
    const result = await lab.run('go');
    expect(result).toMatchObject({ status: 'failed', stopReason: 'runtime_error', phase: 'start', turns: 0 });
    expect(result.error).toBe('h2 is broken');
    expect(lab.trace).toEqual(['agent_started go', 'agent_finished runtime_error']);
    expect(log).toEqual(['start model', 'start h1', 'start h2', 'stop h1', 'stop model']);
    expect(lab.agent.messages).toEqual([]);
    expect(lab.model.requests).toEqual([]);
  });

  it('is tried again by the next run', async () => {
    const log: string[] = [];
    const lab = new Lab(modelWith(log, [say('up')]), { handlers: [part('h1', log)] });
    const start = lab.model as unknown as { start: () => Promise<void> };
    const works = start.start;
    start.start = () => Promise.reject(new Error('no key'));
    expect(await lab.run()).toMatchObject({ phase: 'start', error: 'no key' });
    start.start = works;
    expect(await lab.run()).toMatchObject({ output: 'up' });
  });

  it('by start() throws what failed after rolling back', async () => {
    const log: string[] = [];
    const lab = new Lab(modelWith(log, []), { handlers: [part('h1', log, true)] });
    await expect(lab.agent.start()).rejects.toThrow('h1 is broken');
    expect(log).toEqual(['start model', 'start h1', 'stop model']);
    expect(lab.agent.status).toBe('idle');
  });

  it('can be aborted, and what starts all the same is undone', async () => {
    const started = Promise.withResolvers<undefined>();
    const stopped = Promise.withResolvers<null>();
    const model = Object.assign(new ScriptedModel([say('x')]), {
      start: () => started.promise,
      stop: async () => stopped.resolve(null),
    });
    const lab = new Lab(model);
    const run = lab.run();
    lab.agent.abort('too slow');
    expect(await run).toMatchObject({ stopReason: 'external_abort', error: 'too slow', turns: 0 });
    started.resolve(undefined);
    await stopped.promise;
  });

  it('keeps the first failure if stopping fails too', async () => {
    const log: string[] = [];
    const model = Object.assign(new ScriptedModel([]), { stop: () => Promise.reject(new Error('stop failed')) });
    const lab = new Lab(model, { handlers: [part('h1', log, true)] });
    expect(await lab.run()).toMatchObject({ error: 'h1 is broken' });
    expect(lab.warnings).toEqual(['a part of the agent did not stop well']);
  });

  it.each([
    ['task_hook', { handlers: [{ tools: [], onTask: () => Promise.reject(new Error('not now')), call: NEVER }] }, {}],
    ['skill', {}, { skill: 'unheard-of' }],
  ] as const)('a failure in phase %s is recorded as a result', async (phase, options, runOptions) => {
    const journal = new MemoryJournal();
    const lab = new Lab([say('never')], { ...options, session: journal });
    const result = await lab.run('go', runOptions);
    expect(result).toMatchObject({ status: 'failed', stopReason: 'runtime_error', phase, turns: 0 });
    expect(lab.trace).toEqual(['agent_started go', 'agent_finished runtime_error']);
    expect(journal.result).toBe(result);
    expect(lab.model.requests).toEqual([]);
  });

  it('tells handlers, then middlewares, of each run before its first turn', async () => {
    const log: string[] = [];
    const tell =
      (name: string) =>
      ({ task }: { task: string | null }): void =>
        void log.push(`${name} ${String(task)}`);
    const lab = new Lab([say('x'), say('y')], {
      handlers: [{ tools: [], onTask: tell('handler'), call: NEVER }],
      middlewares: [{ onTask: tell('middleware'), handle: (context, next) => next(context) }],
      onEvent: at('turn_started', () => log.push('turn')),
    });
    await lab.run();
    await lab.agent.continueRun();
    expect(log).toEqual(['handler go', 'middleware go', 'turn', 'handler null', 'middleware null', 'turn']);
  });

  it('a hanging task hook does not outlive an abort', async () => {
    const told = Promise.withResolvers<null>();
    const hanging = { tools: [], onTask: () => (told.resolve(null), NEVER()), call: NEVER };
    const lab = new Lab([say('x')], { handlers: [hanging] });
    const run = lab.run();
    await told.promise;
    lab.agent.abort();
    expect(await run).toMatchObject({ stopReason: 'external_abort' });
  });
});

describe('waiting and shutting down', () => {
  it('waits for runs, follow-ups and sinks', async () => {
    let finished = 0;
    const lab = new Lab([say('1'), say('2'), say('3')], {
      onEvent: ({ payload, sequence }, { agent }) => {
        if (payload.kind === 'turn_started' && sequence === 2 && finished === 0) agent.followUp('more');
      },
      sinks: [
        {
          emit: async ({ payload }) => {
            if (payload.kind !== 'agent_finished') return;
            await new Promise((resolve) => setImmediate(resolve));
            finished += 1;
          },
        },
      ],
    });
    void lab.agent.run('a');
    void lab.agent.run('b');
    await lab.agent.waitForIdle();
    expect(finished).toBe(3);
    expect(lab.agent.status).toBe('completed');
  });

  it('aborts what runs, turns away what waits, and discards follow-ups', async () => {
    const lab = new Lab([NEVER]);
    const running = lab.agent.run('running');
    const waiting = lab.agent.run('waiting');
    const refused = expect(waiting).rejects.toBeInstanceOf(AgentShutDownError);
    const followUp = lab.agent.followUp('later');
    await lab.requested(1);
    await lab.agent.shutdown();
    expect(await running).toMatchObject({ stopReason: 'external_abort', error: 'the agent is shutting down' });
    await refused;
    await expect(followUp.wait()).rejects.toMatchObject({ reason: 'agent_shutdown' });
    await expect(lab.agent.run('again')).rejects.toBeInstanceOf(AgentShutDownError);
    await expect(lab.agent.start()).rejects.toBeInstanceOf(AgentShutDownError);
    await lab.check();
  });

  it('ends event readers', async () => {
    const lab = new Lab([say('x')]);
    const kinds: string[] = [];
    const reader = (async () => {
      for await (const { payload } of lab.agent.events()) kinds.push(payload.kind);
    })();
    await lab.run();
    await lab.agent.shutdown();
    await reader;
    expect(kinds).toEqual(['agent_started', 'turn_started', 'message_completed', 'turn_completed', 'agent_finished']);
  });
});

describe('another history', () => {
  const history: readonly Message[] = [
    { role: 'user', content: 'before' },
    { role: 'assistant', content: null, toolCalls: [call('c1', 'write')] },
    { role: 'tool', toolCallId: 'c1', content: 'ok' },
  ];
  const session: Session = {
    ...{ sessionId: 'session-1', agentId: 'lab', branchId: 'main', messages: history, compactions: [] },
    ...{ revision: 3, headId: null },
    runs: [
      {
        ...{ runId: 'r', intent: 'task', task: 'before', startSequence: 1, finishSequence: 9, finished: true },
        result: {
          ...{ runId: 'r', status: 'failed', stopReason: 'max_steps', output: null, turns: 1, error: 'limit' },
          usage: { ...sayWith({}, '').usage, requestCount: 1, reportedRequestCount: 1 } as never,
        },
      },
    ],
  };

  it('can be set and cleared', async () => {
    const lab = new Lab([say('x')]);
    await lab.run();
    lab.agent.reset(history);
    expect(lab.agent.messages).toEqual(history);
    expect([lab.agent.lastResult, lab.agent.status]).toEqual([null, 'idle']);
    lab.agent.reset();
    expect(lab.agent.messages).toEqual([]);
  });

  it.each([
    ['a call without a result', history.slice(0, 2)],
    ['a result without a call', history.slice(2)],
    ['an id twice', [...history, ...history]],
  ])('is refused with %s', (_name, messages) => {
    const { agent } = new Lab([]);
    expect(() => agent.reset(messages)).toThrow(HistoryError);
    expect(() => agent.restore({ ...session, messages })).toThrow(HistoryError);
    expect(agent.messages).toEqual([]);
  });

  it('is refused while something runs', async () => {
    const { agent } = new Lab([say('x')]);
    const run = agent.run('go');
    expect(() => agent.reset()).toThrow(AgentActiveError);
    expect(() => agent.restore(session)).toThrow(AgentActiveError);
    await run;
  });

  it('comes back from a session with its last result, so that it can be continued', async () => {
    const lab = new Lab([say('went on')]);
    lab.agent.restore(session);
    expect(lab.agent.lastResult?.stopReason).toBe('max_steps');
    expect(await lab.agent.continueRun()).toMatchObject({ output: 'went on' });
    expect(lab.model.requests[0]?.messages.slice(-3)).toEqual(history);
  });

  it("is refused from a session of another agent, with an unfinished run, or that the agent's journal is not of", () => {
    const { agent } = new Lab([], { session: new MemoryJournal() });
    const unfinished = session.runs.map((run) => ({ ...run, finished: false, result: null }));
    expect(() => agent.restore({ ...session, agentId: 'other' })).toThrow(/another agent/);
    expect(() => agent.restore({ ...session, runs: unfinished })).toThrow(/unfinished/);
    expect(() => agent.restore({ ...session, sessionId: 'session-2' })).toThrow(/another session/);
    expect(() => agent.reset(history)).toThrow(/recorded session/);
  });
});

describe('ids and defaults', () => {
  it('makes ids of 32 hexadecimal digits and calls itself agent', async () => {
    const agent = new Agent(new ScriptedModel([say('x')]));
    const result = await agent.run('go');
    expect(result.runId).toMatch(/^[0-9a-f]{32}$/);
    expect(agent.agentId).toBe('agent');
  });
});
