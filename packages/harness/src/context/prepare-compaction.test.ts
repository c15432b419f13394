import fc from 'fast-check';
import type { CompactionTrigger } from '../enums.js';
import { COMPACTION_TRIGGERS } from '../enums.js';
import type { Message } from '../messages.js';
import { ContextMeter } from './context-meter.js';
import {
  anyHistory,
  anyPolicy,
  calls,
  policyOf,
  result,
  said,
  separated,
  steps,
  summaryEntry,
  user,
} from './histories.test-helper.js';
import { prepareCompaction } from './prepare-compaction.js';
import { summaryMessage } from './summary-message.js';
import { defaultEstimator } from './token-estimator.js';

const SYS: Message = { role: 'system', content: 'SYS' };
const anyTrigger = fc.constantFrom<CompactionTrigger>(...COMPACTION_TRIGGERS);

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + defaultEstimator.estimateMessage(message), 0);
}

/** The meter of a run whose context is a short system prompt and this history. */
function meterOf(history: readonly Message[]): ContextMeter {
  const meter = new ContextMeter();
  meter.measure([SYS, ...history], []);
  return meter;
}

function counts(
  history: readonly Message[],
  window: number,
  reserve: number,
  keep: number,
  trigger: CompactionTrigger,
) {
  const prepared = prepareCompaction(history, policyOf(window, reserve, keep), { trigger, meter: meterOf(history) });
  return [prepared.messagesToSummarize.length, prepared.messagesToKeep.length, prepared.canCompact];
}

describe('prepareCompaction: cuts at user messages', () => {
  const a = said('a'.repeat(400));
  const b = said('b'.repeat(400));

  it.each<[string, readonly Message[], [number, number, number], CompactionTrigger, [number, number, boolean]]>([
    ['nothing before the newest 20 tokens', [user('one'), a, user('two')], [200, 50, 20], 'pressure', [0, 3, false]],
    ['one old turn', [user('one'), a, user('two'), b, user('three')], [200, 50, 20], 'pressure', [2, 3, true]],
    ['an overflow', [user('one'), said('a'), user('two')], [100_000, 10, 1], 'overflow', [2, 1, true]],
    ['an overflow of one message', [user('one')], [100_000, 10, 1], 'overflow', [0, 1, false]],
    ['two old turns', [user('one'), a, user('two'), b, user('three')], [200, 50, 1], 'pressure', [4, 1, true]],
    ['on request', [user('one'), said('a'), user('two'), said('b')], [100_000, 10, 1], 'explicit', [2, 2, true]],
  ])('cuts as the original does: %s', (_name, history, [window, reserve, keep], trigger, expected) => {
    expect(counts(history, window, reserve, keep, trigger)).toEqual(expected);
  });

  it('has nothing left to do after one on request', () => {
    const history = [summaryMessage(summaryEntry('S1')), user('two'), said('b')];
    expect(counts(history, 100_000, 10, 1, 'explicit')).toEqual([0, 2, false]);
  });

  it('keeps at least keepRecentTokens', () => {
    const history = Array.from({ length: 20 }, (_, at) => [user(`task ${at}`), said('x'.repeat(100))]).flat();
    const prepared = prepareCompaction(history, policyOf(2_000, 0, 150));
    expect(tokensOf(prepared.messagesToKeep)).toBeGreaterThanOrEqual(150);
    expect(tokensOf(prepared.messagesToKeep.slice(2))).toBeLessThan(150);
    expect(prepared).toMatchObject({ canCompact: true, insideTurn: false, tokensBefore: tokensOf(history) });
  });

  it('protects the leading system messages and hands the summary among them on', () => {
    const entry = summaryEntry('S1');
    const history = [SYS, summaryMessage(entry), user('two'), b, user('three'), said('c')];
    const prepared = prepareCompaction(history, policyOf(100_000, 10, 1));
    expect(prepared).toMatchObject({ historyStart: 2, firstKept: 4, previousSummary: entry });
    expect(prepared.protectedMessages).toEqual(history.slice(0, 2));
    expect(prepared.messagesToSummarize).toEqual(history.slice(2, 4));
  });

  it('summarises a system message in the middle like everything around it', () => {
    const history = [user('one'), SYS, a, user('two'), said('b')];
    expect(prepareCompaction(history, policyOf(100_000, 10, 1)).messagesToSummarize).toEqual(history.slice(0, 3));
  });

  it('summarises nothing that is no bigger than a summary', () => {
    expect(counts([user('1'), user('two'), said('b')], 100_000, 10, 1, 'explicit')).toEqual([0, 3, false]);
  });

  it('takes an empty history, and one of system messages alone', () => {
    expect(counts([], 200, 50, 20, 'pressure')).toEqual([0, 0, false]);
    expect(counts([SYS, SYS], 200, 50, 20, 'overflow')).toEqual([0, 0, false]);
  });
});

describe('prepareCompaction: cuts inside one long turn', () => {
  it('cuts before an assistant message where there is one user message only', () => {
    const history = [user('one huge task'), ...steps(7)];
    const prepared = prepareCompaction(history, policyOf(400, 50, 60), {
      trigger: 'pressure',
      meter: meterOf(history),
    });
    expect(prepared).toMatchObject({ canCompact: true, insideTurn: true });
    expect(prepared.messagesToSummarize).toEqual(history.slice(1, -4));
    expect(prepared.messagesToKeep).toEqual([user('one huge task'), ...history.slice(-4)]);
  });

  it('cuts inside the newest turn where that alone nearly fills the context', () => {
    const history = [user('small'), said('done'), user('one huge task'), ...steps(40)];
    const prepared = prepareCompaction(history, policyOf(2_000, 0, 200), { trigger: 'pressure' });
    expect(prepared.insideTurn).toBe(true);
    expect(tokensOf(prepared.messagesToKeep)).toBeLessThan(300);
  });

  it('leaves the newest turn whole where it fits well', () => {
    const history = [user('old'), ...steps(40), user('new'), ...steps(4, 'written', 'n')];
    const prepared = prepareCompaction(history, policyOf(2_000, 0, 100), { trigger: 'pressure' });
    expect(prepared).toMatchObject({ insideTurn: false, firstKept: 81 });
  });

  it('keeps parallel calls together with all of their results', () => {
    const history = [user('go'), ...steps(8), calls('p', 'q', 'r'), result('p'), result('q'), result('r')];
    const prepared = prepareCompaction(history, policyOf(400, 0, 1), { trigger: 'pressure' });
    expect(prepared.messagesToKeep).toEqual([user('go'), ...history.slice(-4)]);
  });

  it('cuts before a result that alone is larger than the whole budget', () => {
    const history = [user('go'), ...steps(6), calls('big'), result('big', 'x'.repeat(4_000))];
    const prepared = prepareCompaction(history, policyOf(400, 50, 20), {
      trigger: 'pressure',
      meter: meterOf(history),
    });
    expect(prepared).toMatchObject({ canCompact: true, insideTurn: true });
    expect(prepared.messagesToKeep).toEqual([user('go'), ...history.slice(-2)]);
  });

  it('summarises the task where the last step would only fit without it', () => {
    const prepare = (chars: number) => {
      const history = [user('g'.repeat(200)), ...steps(6), calls('big'), result('big', 'x'.repeat(chars))];
      return prepareCompaction(history, policyOf(400, 50, 20), { trigger: 'overflow', meter: meterOf(history) });
    };
    expect(prepare(400)).toMatchObject({ canCompact: true, insideTurn: true, carriedIndex: 0 });
    expect(prepare(950)).toMatchObject({ canCompact: true, insideTurn: true, carriedIndex: null });
  });

  it('summarises a huge result as soon as something came after it', () => {
    const history = [user('go'), calls('big'), result('big', 'x'.repeat(4_000)), ...steps(2)];
    const prepared = prepareCompaction(history, policyOf(400, 50, 20), {
      trigger: 'pressure',
      meter: meterOf(history),
    });
    expect(prepared.messagesToSummarize).toContain(history[2]);
    expect(prepared.messagesToKeep).toEqual([user('go'), ...history.slice(-2)]);
  });

  it('finds a smaller cut after an overflow that the budget did not foresee', () => {
    const history = [user('go'), ...steps(40)];
    expect(tokensOf(history)).toBeLessThan(20_000);
    const prepared = prepareCompaction(history, policyOf(128_000, 8_000, 20_000), { trigger: 'overflow' });
    expect(prepared.canCompact).toBe(true);
    expect(tokensOf(prepared.messagesToKeep)).toBeLessThan(tokensOf(history) * 0.75);
  });

  it('gives way under pressure that a model reported, though the estimate is low', () => {
    const history = [user('go'), ...steps(10)];
    const policy = policyOf(5_000, 0, 100);
    expect(prepareCompaction(history, policy, { trigger: 'pressure' })).toMatchObject({ canCompact: true });
    const afterSmallTalk = [user('hello'), said('hello'), ...history];
    const prepared = prepareCompaction(afterSmallTalk, policy, { trigger: 'pressure' });
    expect(prepared).toMatchObject({ canCompact: true, insideTurn: true });
  });

  it('does not cut inside a turn on request while that turn fits well', () => {
    const history = [user('go'), ...steps(10)];
    expect(prepareCompaction(history, policyOf(100_000, 0, 100)).canCompact).toBe(false);
    expect(prepareCompaction(history, policyOf(700, 0, 100)).canCompact).toBe(true);
  });

  it('has room only for what tools and prompts leave', () => {
    const history = [user('old'), said('x'.repeat(4_000)), user('new'), ...steps(10)];
    const alone = prepareCompaction(history, policyOf(2_000, 0, 100), { trigger: 'pressure' });
    const meter = { estimator: defaultEstimator, leadingTokens: 1_500 };
    const crowded = prepareCompaction(history, policyOf(2_000, 0, 100), { trigger: 'pressure', meter });
    expect([alone.insideTurn, crowded.insideTurn]).toEqual([false, true]);
  });
});

describe('prepareCompaction: the task of the turn that is cut', () => {
  const pressure = { trigger: 'pressure' } as const;
  const leastSummary = tokensOf([summaryMessage(summaryEntry('…'))]);

  it('stays as it is, and counts neither as summarised nor as freed', () => {
    const history = [user('small'), said('done'), user('one huge task'), ...steps(40)];
    const prepared = prepareCompaction(history, policyOf(2_000, 0, 200), pressure);
    const { firstKept } = prepared;
    expect(prepared).toMatchObject({ insideTurn: true, historyStart: 0, carriedIndex: 2 });
    expect(prepared.messagesToSummarize).toEqual([...history.slice(0, 2), ...history.slice(3, firstKept)]);
    expect(prepared.messagesToKeep).toEqual([history[2], ...history.slice(firstKept)]);
  });

  it('is the newest message of the user before the cut', () => {
    const history = [user('task'), ...steps(20), user('faster'), ...steps(20, 'written', 'n')];
    expect(prepareCompaction(history, policyOf(600, 0, 100), pressure)).toMatchObject({
      insideTurn: true,
      carriedIndex: 41,
    });
  });

  it('is not carried past a cut at a user message', () => {
    const history = [user('old'), ...steps(40), user('new'), ...steps(4, 'written', 'n')];
    expect(prepareCompaction(history, policyOf(2_000, 0, 100), pressure)).toMatchObject({
      insideTurn: false,
      carriedIndex: null,
    });
  });

  it.each([
    [0, 0],
    [1, null],
  ])('is summarised with %d tokens more than a quarter of the room', (more, carriedIndex) => {
    const history = [user('x'.repeat(1_000)), ...steps(100)];
    const room = 4 * (tokensOf(history.slice(0, 1)) - more);
    const policy = policyOf(room + leastSummary, 0, 100);
    const prepared = prepareCompaction(history, policy, pressure);
    expect(prepared).toMatchObject({ canCompact: true, insideTurn: true, carriedIndex });
    expect(prepared.messagesToSummarize.includes(history[0] ?? SYS)).toBe(carriedIndex === null);
  });

  it('is not cut off from its turn if nothing else would be summarised', () => {
    const history = [user('x'.repeat(400)), said('y'.repeat(1_600)), ...steps(1)];
    const prepared = prepareCompaction(history, policyOf(800, 0, 300), pressure);
    expect(prepared).toMatchObject({ canCompact: false, firstKept: 0, carriedIndex: null });
    expect(prepared.messagesToKeep).toEqual(history);
  });

  it('does not make a cut worthwhile that frees too little', () => {
    const canCompact = [200, 400].map((length) => {
      const history = [user('x'.repeat(400)), said('z'.repeat(length)), said('y'.repeat(1_600))];
      return prepareCompaction(history, policyOf(800, 0, 300), pressure).canCompact;
    });
    expect(canCompact).toEqual([false, true]);
  });

  it('does not make a cut inside its turn better than one before it', () => {
    const turn = [user('x'.repeat(400)), said('z'.repeat(80)), said('y'.repeat(1_600))];
    const history = [user('old'), said('w'.repeat(400)), ...turn];
    const prepared = prepareCompaction(history, policyOf(700, 0, 300), pressure);
    expect(tokensOf(turn)).toBeGreaterThan(700 * 0.75);
    expect(prepared).toMatchObject({ canCompact: true, firstKept: 2, insideTurn: false });
  });

  it('may be missing', () => {
    const history = [summaryMessage(summaryEntry('S1')), ...steps(40)];
    expect(prepareCompaction(history, policyOf(600, 0, 100), pressure)).toMatchObject({
      canCompact: true,
      insideTurn: true,
      carriedIndex: null,
    });
  });
});

describe('prepareCompaction: any history, any budget', () => {
  it('loses nothing, keeps the order and the newest message, and separates no call from its result', () => {
    fc.assert(
      fc.property(anyHistory, anyPolicy, anyTrigger, (history, policy, trigger) => {
        const prepared = prepareCompaction(history, policy, { trigger, meter: meterOf(history) });
        const { protectedMessages, messagesToSummarize, messagesToKeep, carriedIndex, historyStart } = prepared;
        const parts = [protectedMessages, messagesToSummarize, messagesToKeep];
        const carried = carriedIndex === null ? [] : messagesToKeep.slice(0, 1);
        const between = messagesToSummarize.toSpliced((carriedIndex ?? 0) - historyStart, 0, ...carried);
        expect([...protectedMessages, ...between, ...messagesToKeep.slice(carried.length)]).toEqual(history);
        expect(separated(parts)).toEqual([]);
        expect(messagesToKeep.at(-1)).toBe(history.at(-1));
        expect(messagesToKeep[0]?.role).not.toBe('tool');
        expect(prepared.canCompact).toBe(messagesToSummarize.length > 0);
        expect([historyStart, prepared.firstKept]).toEqual([
          protectedMessages.length,
          history.length - messagesToKeep.length + carried.length,
        ]);
      }),
      { numRuns: 500 },
    );
  });

  it('separates no call from its result where other messages stand between them', () => {
    const shuffled = anyHistory.chain((history) => fc.shuffledSubarray([...history], { minLength: history.length }));
    fc.assert(
      fc.property(shuffled, anyPolicy, anyTrigger, (history, policy, trigger) => {
        const { protectedMessages, messagesToSummarize, messagesToKeep } = prepareCompaction(history, policy, {
          trigger,
        });
        const before = separated([history]);
        expect(separated([protectedMessages, messagesToSummarize, messagesToKeep])).toEqual(before);
      }),
    );
  });

  it('carries only the task of a turn that it cuts, and frees enough without it', () => {
    fc.assert(
      fc.property(anyHistory, anyPolicy, anyTrigger, (history, policy, trigger) => {
        const prepared = prepareCompaction(history, policy, { trigger, meter: meterOf(history) });
        const { messagesToSummarize, messagesToKeep, carriedIndex, firstKept, tokensBefore } = prepared;
        const newestUser = history.slice(0, firstKept).findLastIndex(({ role }) => role === 'user');
        if (carriedIndex !== null) expect([prepared.insideTurn, carriedIndex]).toEqual([true, newestUser]);
        if (carriedIndex !== null) expect(messagesToKeep[0]).toBe(history[newestUser]);
        const freed = tokensOf(messagesToSummarize);
        if (prepared.canCompact) expect(freed).toBeGreaterThan(tokensOf([summaryMessage(summaryEntry('…'))]));
        if (prepared.canCompact && trigger === 'pressure') expect(freed).toBeGreaterThanOrEqual(tokensBefore / 8);
      }),
      { numRuns: 500 },
    );
  });

  it('always gives way under pressure if a long turn has steps that could go', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 60 }), anyPolicy, (count, policy) => {
        const history = [user('task'), ...steps(count)];
        const threshold = policy.budget.windowTokens - policy.budget.reserveTokens;
        fc.pre(tokensOf(history) >= threshold);
        expect(prepareCompaction(history, policy, { trigger: 'pressure' }).canCompact).toBe(true);
      }),
    );
  });
});
