import { jest } from '@jest/globals';
import { type MockAgents, firstText, request } from '../testing/mock-agents.js';
import { mocksOfEachTest } from '../testing/mocks-of-each-test.js';
import type { PermissionAnswer, PermissionQuestion } from './index.js';

// Each of them starts programs, on a machine that may have others to do.
jest.setTimeout(30_000);

const END = { answer: 'end_turn' };
const ALL = ['allow_once', 'allow_always', 'reject_once', 'reject_always'];
const ASKS = { prompts: [[{ text: 'may I?' }, { ask: ALL }, END]] };

describe('permissions of a child', () => {
  let agents: MockAgents;
  mocksOfEachTest((made) => (agents = made));

  /** The outcomes that a child got which asked once. */
  async function outcomesWith(permission: () => PermissionAnswer | Promise<PermissionAnswer>): Promise<unknown[]> {
    const run = await agents.start(ASKS, { permission });
    expect((await run.result).stopReason).toBe('completed');
    await run.dispose();
    return agents.outcomes();
  }

  it.each<[string, PermissionAnswer, string]>([
    ['allow', 'allow', 'allow_once-0'],
    ['allow always', 'allow-always', 'allow_always-1'],
    ['reject', 'reject', 'reject_once-2'],
    ['cancel', 'cancel', 'cancelled'],
    ['an option', { optionId: 'reject_always-3' }, 'reject_always-3'],
    ['an option that was not offered', { optionId: 'allow_once-17' }, 'reject_once-2'],
  ])('are decided by a callback that says %s', async (_what, answer, outcome) => {
    expect(await outcomesWith(() => answer)).toEqual([outcome]);
  });

  it('are refused when the callback throws, at once or later', async () => {
    const failing = [
      () => {
        throw new Error('no idea');
      },
      () => Promise.reject(new Error('no idea')),
    ];
    for (const callback of failing) await outcomesWith(callback);
    expect(agents.outcomes()).toEqual(['reject_once-2', 'reject_once-2']);
  });

  it('are refused when the callback answers with nonsense', async () => {
    await outcomesWith(() => 'yes' as PermissionAnswer);
    await outcomesWith(() => undefined as unknown as PermissionAnswer);
    expect(agents.outcomes().every((outcome) => outcome === 'reject_once-2')).toBe(true);
    expect(agents.outcomes()).toHaveLength(2);
  });

  it('show the callback what is asked', async () => {
    const questions: PermissionQuestion[] = [];
    await outcomesWith(((question: PermissionQuestion) => {
      questions.push(question);
      return 'reject';
    }) as () => PermissionAnswer);
    expect(questions).toMatchObject([{ callId: 'call-1', title: 'Write a file', toolKind: 'edit' }]);
    expect(questions[0]?.options).toHaveLength(4);
  });

  it('are refused when the callback is late, and its signal tells it so', async () => {
    let signal: AbortSignal | undefined;
    const run = await agents.start(ASKS, {
      permission: (_question, waiting) => {
        signal = waiting;
        return new Promise(() => undefined);
      },
      permissionTimeoutMs: 200,
    });
    expect((await run.result).stopReason).toBe('completed');
    expect(agents.outcomes()).toEqual(['reject_once-2']);
    expect(signal?.aborted).toBe(true);
    await run.dispose();
  });

  it('are answered "cancelled" at once when the run is cancelled while somebody decides', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const script = { prompts: [[{ ask: ALL }, { untilCancel: true }, { answer: 'cancelled' }]] };
    const run = await agents.start(script, {
      permission: (_question, signal) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      },
      deadlines: { cancelGraceMs: 10_000 },
    });
    const signal = await asked.promise;
    run.cancel();
    expect((await run.result).stopReason).toBe('aborted');
    expect(signal.aborted).toBe(true);
    expect(agents.outcomes()).toEqual(['cancelled']);
    await run.dispose();
  });

  it('tell the callback when the child that asked is gone', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const script = { prompts: [[{ aside: [{ ask: ALL }] }, { wait: 50 }, { exit: 3 }]] };
    const run = await agents.start(script, {
      permission: (_question, signal) => {
        asked.resolve(signal);
        return new Promise(() => undefined);
      },
    });
    expect((await run.result).stopReason).toBe('error');
    await run.dispose();
    expect((await asked.promise).aborted).toBe(true);
  });

  it('do not count as silence while somebody decides', async () => {
    const run = await agents.start(ASKS, {
      permission: () => new Promise((resolve) => setTimeout(() => resolve('allow'), 900)),
      deadlines: { idleMs: 300 },
    });
    expect((await run.result).stopReason).toBe('completed');
    expect(agents.outcomes()).toEqual(['allow_once-0']);
    await run.dispose();
  });

  it('count as part of the whole prompt while somebody decides, and are answered "cancelled" at its end', async () => {
    const run = await agents.start(ASKS, {
      permission: () => new Promise(() => undefined),
      deadlines: { promptMs: 400 },
    });
    expect((await run.result).stopReason).toBe('error');
    expect(agents.live()).toEqual([]);
    expect(agents.outcomes()).toEqual(['cancelled']);
    await run.dispose();
  });

  it('are answered when a background child asks with another session, without the policy', async () => {
    const callback = () => 'allow' as const;
    const script = { prompts: [[{ ask: ALL, sessionId: 'of-a-background-child' }, END]] };
    const run = await agents.start(script, { permission: callback });
    expect((await run.result).stopReason).toBe('completed');
    expect(agents.outcomes()).toHaveLength(1);
    expect(agents.outcomes()).not.toContain('allow_once-0');
    await run.dispose();
  });

  it('are answered between two prompts of a warm child, without the policy', async () => {
    const late = { aside: [{ wait: 30 }, { ask: ALL }, { note: 'answered' }] };
    const script = {
      prompts: [
        [late, { text: 'one' }, END],
        [{ text: 'two' }, END],
      ],
    };
    const provider = agents.provider(script, { permission: 'allow', pool: { size: 1, idleMs: 20_000 } });
    const first = await provider.start(request());
    await first.result;
    await first.dispose();
    await agents.until(({ journal }) =>
      journal.call(agents).some(({ note, event }) => note === 'answered' || event === 'exit'),
    );
    const second = await provider.start(request());
    expect((await second.result).stopReason).toBe('completed');
    await second.dispose();
    expect(agents.outcomes()).not.toContain('allow_once-0');
  });

  it('after a cancel are never given to the policy', async () => {
    let questions = 0;
    const script = { prompts: [[{ text: 'hi' }, { untilCancel: true }, { ask: ALL }, { answer: 'cancelled' }]] };
    const run = await agents.start(script, {
      permission: () => {
        questions += 1;
        return 'allow';
      },
      deadlines: { cancelGraceMs: 10_000 },
    });
    await firstText(run);
    run.cancel();
    expect((await run.result).stopReason).toBe('aborted');
    expect(agents.outcomes()).toEqual(['cancelled']);
    expect(questions).toBe(0);
    await run.dispose();
  });

  it.each(['broken', 'without options', 'with the same id twice'])('that are %s get an answer', async (kind) => {
    const option = { optionId: 'yes', name: 'Yes', kind: 'allow_once' };
    const shapes: Record<string, object> = {
      broken: { toolCall: null, options: 'none' },
      'without options': { toolCall: { toolCallId: 'call-1' }, options: [] },
      'with the same id twice': {
        toolCall: { toolCallId: 'call-1' },
        options: [option, { ...option, kind: 'reject_once' }],
      },
    };
    const script = { prompts: [[{ request: 'session/request_permission', params: shapes[kind] }, END]] };
    const run = await agents.start(script, { permission: 'allow' });
    expect((await run.result).stopReason).toBe('completed');
    expect(agents.outcomes()).toHaveLength(1);
    expect(agents.outcomes()).not.toContain('yes');
    await run.dispose();
  });
});
