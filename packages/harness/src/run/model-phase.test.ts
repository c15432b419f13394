import { jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { at, Lab, type LabOptions, textOf } from '../../test-support/lab.js';
import { MemoryJournal } from '../../test-support/memory-journal.js';
import type { ContextOptions } from '../agent/agent-options.js';
import type { Compactor } from '../context/compaction-types.js';
import { ContextOverflowError } from '../model/model-errors.js';
import type { ModelAdapter, ModelStreamEvent } from '../model/model-adapter.js';
import { call, say, sayWith, ScriptedModel, type ScriptedStep, usageOf } from '../model/scripted-model.js';

const LONG = 'a'.repeat(400);
const SUMMARY: Compactor = { compact: () => Promise.resolve({ content: 'in short', source: 'test' }) };

function context(
  windowTokens: number,
  more: Partial<ContextOptions> = { compactor: SUMMARY, auto: {} },
): ContextOptions {
  return { policy: { budget: { windowTokens, reserveTokens: 20, keepRecentTokens: 10 } }, ...more };
}

/** Without tools, so that the history alone fills the window. */
function plainLab(steps: readonly ScriptedStep[], options: LabOptions): Lab {
  return new Lab(steps, { handlers: [], ...options });
}

/** A first run that fills the history, so that a second one has something to cut. */
async function filled(lab: Lab): Promise<Lab> {
  await lab.run('one');
  return lab;
}

describe('the pressure on the context', () => {
  it('is only observed without an automatic policy', async () => {
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(120, { compactor: SUMMARY }) }));
    await lab.run('two');
    expect(lab.lastTrace).toEqual([
      'agent_started two',
      'turn_started 1',
      'context_pressure_evaluated',
      'message_completed',
      'turn_completed 1',
      'agent_finished text_response',
    ]);
    const [before, now] = lab.of('context_pressure_evaluated');
    expect(before).toMatchObject({ decision: { shouldCompact: false, reason: 'below_threshold' }, preparation: null });
    expect(now).toMatchObject({ decision: { shouldCompact: true, reason: 'threshold_reached' } });
    expect(now?.preparation).not.toBeNull();
  });

  it('cuts the history once, measures again and asks with the summary', async () => {
    const journal = new MemoryJournal();
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(150), session: journal }));
    await lab.run('two');
    expect(lab.lastTrace.slice(2, 8)).toEqual([
      'context_pressure_evaluated',
      'compaction_started pressure',
      'compaction_completed completed',
      'context_pressure_evaluated',
      'message_completed',
      'turn_completed 1',
    ]);
    expect(lab.agent.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
    expect(lab.model.requests[1]?.messages.at(-2)?.content).toContain('in short');
    expect(journal.entries.map(({ method }) => method)).toContain('applyCompaction');
  });

  it('is relieved once in a turn, although it is still there after that', async () => {
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(100) }));
    await lab.run('two '.repeat(100));
    expect(lab.lastTrace.slice(2, 7)).toEqual([
      'context_pressure_evaluated',
      'compaction_started pressure',
      'compaction_completed completed',
      'context_pressure_evaluated',
      'message_completed',
    ]);
    expect(lab.of('context_pressure_evaluated').at(-1)?.decision.shouldCompact).toBe(true);
  });

  it('goes straight to the request if there is nothing to cut', async () => {
    const lab = plainLab([say('b')], { context: context(60) });
    await lab.run('long '.repeat(60));
    expect(lab.trace.slice(2, 6)).toEqual([
      'context_pressure_evaluated',
      'compaction_started pressure',
      'compaction_completed skipped',
      'message_completed',
    ]);
  });

  it('that no summary can be written for fails the run before any request', async () => {
    const compactor = { compact: () => Promise.reject(new Error('summary model down')) };
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(150, { compactor, auto: {} }) }));
    const result = await lab.run('two');
    expect(result).toMatchObject({ stopReason: 'compaction_failed', status: 'failed', error: 'summary model down' });
    expect(result.usage.requestCount).toBe(0);
    expect(lab.lastTrace.slice(2)).toEqual([
      'context_pressure_evaluated',
      'compaction_started pressure',
      'compaction_failed failed',
      'turn_completed 1',
      'agent_finished compaction_failed',
    ]);
    expect(lab.agent.messages).toHaveLength(3);
  });

  it('does not cut again for usage that was reported before the cut', async () => {
    const expensive = sayWith({ usage: usageOf(5_000, 1) }, LONG);
    const lab = await filled(plainLab([expensive, say('b'), say('c')], { context: context(300) }));
    await lab.run('two');
    expect(lab.lastTrace).toContain('compaction_completed completed');
    await lab.run('three');
    expect(lab.lastTrace).not.toContain('compaction_started pressure');
  });

  it('can be relieved in the middle of one long run', async () => {
    const turn = (id: string): ReturnType<typeof say> => sayWith({ usage: null }, LONG, call(id, 'write', { id }));
    const lab = new Lab([...['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map(turn), say('end')], { context: context(600) });
    expect(await lab.run('one huge task')).toMatchObject({ stopReason: 'text_response' });
    expect(lab.trace).toContain('compaction_completed completed');
  });

  it('whose compaction is aborted ends the run and leaves the history', async () => {
    const compactor: Compactor = { compact: () => new Promise(() => undefined) };
    const lab = await filled(
      plainLab([say(LONG), say('b')], {
        context: context(150, { compactor, auto: {} }),
        onEvent: at('compaction_started', ({ agent }) => agent.abort('stop')),
      }),
    );
    expect(await lab.run('two')).toMatchObject({ stopReason: 'external_abort', error: 'stop' });
    expect(lab.lastTrace).toContain('compaction_failed cancelled');
    expect(lab.agent.messages).toHaveLength(3);
  });
});

describe('a request that is too long for the model', () => {
  const overflow = new ContextOverflowError('too big');

  it('is sent again after one compaction', async () => {
    const lab = await filled(plainLab([say(LONG), overflow, say('fits')], { context: context(10_000) }));
    const result = await lab.run('two');
    expect(result).toMatchObject({ stopReason: 'text_response', output: 'fits' });
    expect(result.usage).toMatchObject({ totalTokens: 10, requestCount: 2, reportedRequestCount: 1 });
    expect(lab.lastTrace.slice(2, 7)).toEqual([
      'context_pressure_evaluated',
      'compaction_started overflow',
      'compaction_completed completed',
      'context_pressure_evaluated',
      'message_completed',
    ]);
  });

  it('is not compacted twice', async () => {
    const again = new ContextOverflowError('still too big');
    const lab = await filled(plainLab([say(LONG), overflow, again, say('x')], { context: context(10_000) }));
    const result = await lab.run('two');
    expect(result).toMatchObject({ stopReason: 'context_overflow', status: 'failed', error: 'still too big' });
    expect(lab.model.requests).toHaveLength(3);
    expect(lab.of('compaction_started')).toHaveLength(1);
  });

  it.each([
    ['text_delta', 'x'],
    ['thinking_delta', undefined],
  ] as const)('is not sent again once a %s was shown', async (type, partial) => {
    const shown = [{ type, delta: 'x' }, overflow] as const;
    const lab = await filled(plainLab([say(LONG), shown, say('again')], { context: context(10_000) }));
    const result = await lab.run('two');
    expect(result).toMatchObject({ stopReason: 'context_overflow', error: 'too big' });
    expect(result.partial).toBe(partial);
    expect(lab.model.requests).toHaveLength(2);
    expect(lab.of('compaction_started')).toEqual([]);
  });

  it('is not sent again if there is nothing to cut', async () => {
    const lab = plainLab([overflow, say('x')], { context: context(10_000) });
    expect(await lab.run()).toMatchObject({ stopReason: 'context_overflow', error: 'too big' });
    expect(lab.trace.slice(2, 5)).toEqual([
      'context_pressure_evaluated',
      'compaction_started overflow',
      'compaction_completed skipped',
    ]);
    expect(lab.model.requests).toHaveLength(1);
  });

  it.each([
    ['without a compactor', {}],
    ['without an automatic policy', { compactor: SUMMARY }],
    ['with recovery switched off', { compactor: SUMMARY, auto: { onOverflow: false } }],
  ])('fails the run %s', async (_name, more) => {
    const lab = await filled(plainLab([say(LONG), overflow], { context: context(10_000, more) }));
    expect(await lab.run('two')).toMatchObject({ stopReason: 'context_overflow' });
    expect(lab.of('compaction_started')).toEqual([]);
  });

  it('takes steering along that came meanwhile', async () => {
    const lab = await filled(
      plainLab([say(LONG), overflow, say('fits')], {
        context: context(10_000),
        onEvent: at('compaction_started', ({ agent }) => agent.steer('and this')),
      }),
    );
    await lab.run('two');
    expect(lab.model.requests[2]?.messages.at(-1)?.content).toBe('and this');
  });
});

describe('a compaction on request', () => {
  it('is an operation of its own, with its own run id and without agent events', async () => {
    const journal = new MemoryJournal();
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(10_000), session: journal }));
    await lab.run('two');
    const from = lab.events.length;
    const result = await lab.agent.compact();
    expect(result).toMatchObject({ status: 'completed', trigger: 'explicit', error: null });
    const events = lab.events.slice(from);
    expect(events.map(({ payload, sequence }) => `${String(sequence)} ${textOf(payload)}`)).toEqual([
      '1 compaction_started explicit',
      '2 compaction_completed completed',
    ]);
    expect(lab.events.filter(({ runId }) => runId === events[0]?.runId)).toHaveLength(2);
    expect(journal.messages).toEqual(lab.agent.messages);
    expect(lab.agent.messages[0]).toMatchObject({ role: 'system' });
  });

  it('skips a history with nothing to cut', async () => {
    const lab = plainLab([], { context: context(10_000) });
    expect(await lab.agent.compact()).toMatchObject({ status: 'skipped' });
  });

  it('is cancelled by abort, by its signal, also while it waits, and counts as activity', async () => {
    const compactor: Compactor = { compact: () => new Promise(() => undefined) };
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(10_000, { compactor }) }));
    await lab.run('two');
    const first = lab.agent.compact();
    const caller = new AbortController();
    const waiting = lab.agent.compact({ signal: caller.signal });
    expect([lab.agent.status, lab.agent.steer('x').status, lab.agent.followUp('x').receipt.status]).toEqual([
      'running',
      'agent_idle',
      'agent_idle',
    ]);
    caller.abort(new Error('not needed'));
    expect(await waiting).toMatchObject({ status: 'cancelled', error: 'not needed' });
    expect(lab.agent.abort('enough')).toBe(true);
    expect(await first).toMatchObject({ status: 'cancelled', error: 'enough' });
    expect(lab.agent.messages).toHaveLength(4);
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  });

  it('that cannot be recorded fails and changes nothing', async () => {
    const journal = new MemoryJournal((_call, method) => (method === 'applyCompaction' ? new Error('ENOSPC') : null));
    const lab = await filled(plainLab([say(LONG), say('b')], { context: context(10_000), session: journal }));
    await lab.run('two');
    const result = await lab.agent.compact();
    expect(result).toMatchObject({ status: 'failed', summary: null });
    expect(result.error).toContain('ENOSPC');
    expect(lab.trace.at(-1)).toBe('compaction_failed failed');
    expect(lab.agent.messages).toEqual(journal.messages);
  });

  it('needs a compactor', async () => {
    await expect(new Lab([]).agent.compact()).rejects.toMatchObject({ code: 'compaction_not_configured' });
  });
});

describe('the time that a model may take', () => {
  /** A model that ignores its signal, as a broken adapter does. */
  const deaf = (stream: () => AsyncGenerator<ModelStreamEvent>): ModelAdapter => ({ name: 'deaf', stream });
  const labWith = (model: ModelAdapter, policy: { modelIdleTimeoutMs?: number; modelTimeoutMs?: number }): Lab =>
    new Lab(Object.assign(new ScriptedModel(), model), { runtimePolicy: policy });

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('ends a silent stream, keeps its text and leaves no timer', async () => {
    const lab = labWith(
      deaf(async function* () {
        yield { type: 'text_delta', delta: 'half' };
        await new Promise(() => undefined);
      }),
      { modelIdleTimeoutMs: 1_000 },
    );
    const run = lab.run();
    await jest.advanceTimersByTimeAsync(999);
    expect(lab.agent.status).toBe('running');
    await jest.advanceTimersByTimeAsync(1);
    expect(await run).toMatchObject({
      stopReason: 'runtime_error',
      partial: 'half',
      error: expect.stringContaining('1000'),
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('starts anew with each event, up to the total', async () => {
    const lab = labWith(
      deaf(async function* () {
        for (;;) {
          await new Promise((resolve) => setTimeout(resolve, 900));
          yield { type: 'thinking_delta', delta: '.' };
        }
      }),
      { modelIdleTimeoutMs: 1_000, modelTimeoutMs: 5_000 },
    );
    const run = lab.run();
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await run).toMatchObject({ stopReason: 'runtime_error', error: expect.stringContaining('5000') });
    expect(lab.of('assistant_thinking_delta')).toHaveLength(5);
  });

  it('does not count what a slow sink takes', async () => {
    const lab = new Lab(
      [
        [
          { type: 'text_delta', delta: 'x' },
          { type: 'completed', response: say('x') },
        ],
      ],
      {
        runtimePolicy: { modelIdleTimeoutMs: 1_000 },
        sinks: [
          {
            emit: ({ payload }) => {
              if (payload.kind !== 'assistant_text_delta') return;
              return new Promise((resolve) => setTimeout(resolve, 3_000));
            },
          },
        ],
      },
    );
    const run = lab.run();
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await run).toMatchObject({ stopReason: 'text_response' });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends at once with an abort, though the model does not listen', async () => {
    const lab = labWith(
      deaf(async function* () {
        yield { type: 'text_delta', delta: 'half' };
        await new Promise(() => undefined);
      }),
      {},
    );
    const run = lab.run();
    await jest.advanceTimersByTimeAsync(1);
    lab.agent.abort('now');
    expect(await run).toMatchObject({ stopReason: 'external_abort', error: 'now', partial: 'half' });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('does not wait for the end of a stream that has given its answer', async () => {
    const lab = labWith(
      deaf(async function* () {
        try {
          yield { type: 'completed', response: say('done') };
        } finally {
          await new Promise(() => undefined);
        }
      }),
      {},
    );
    expect(await lab.run()).toMatchObject({ output: 'done' });
  });

  it('is no matter for a model that throws before it streams', async () => {
    const model: ModelAdapter = {
      name: 'broken',
      stream: () => {
        throw new Error('no client');
      },
    };
    expect(await labWith(model, {}).run()).toMatchObject({ stopReason: 'runtime_error', error: 'no client' });
  });
});
