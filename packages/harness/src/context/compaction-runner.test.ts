import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { COMPACTION_TRIGGERS, type CompactionTrigger } from '../enums.js';
import type { Message } from '../messages.js';
import { usageOf } from '../model/scripted-model.js';
import { decideCompaction } from './compaction-decision.js';
import { CompactionRunner } from './compaction-runner.js';
import type { CompactionPreparation, CompactionRequest, Compactor, CompactorOutput } from './compaction-types.js';
import { ContextMeter } from './context-meter.js';
import { anyHistory, anyPolicy, policyOf, said, steps, summaryEntry, user } from './histories.test-helper.js';
import { prepareCompaction } from './prepare-compaction.js';
import { isSummary, summaryMessage } from './summary-message.js';

const SYS: Message = { role: 'system', content: 'SYS' };
const anyTrigger = fc.constantFrom<CompactionTrigger>(...COMPACTION_TRIGGERS);
const HISTORY: readonly Message[] = [user('one'), said('a'.repeat(400)), user('two'), said('b')];
const PREPARED = prepareCompaction(HISTORY, policyOf(1_000, 0, 1));

function compactorOf(compact: Compactor['compact']): Compactor {
  return { compact };
}

function writing(content: string): Compactor {
  return compactorOf(() => Promise.resolve({ content, source: 'test' }));
}

function runnerOf(compactor: Compactor, timeoutMs?: number): CompactionRunner {
  let ids = 0;
  return new CompactionRunner({
    compactor,
    newId: () => `id${++ids}`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

function run(
  compactor: Compactor,
  preparation: CompactionPreparation = PREPARED,
  signal = new AbortController().signal,
  timeoutMs?: number,
) {
  return runnerOf(compactor, timeoutMs).run({ trigger: 'pressure', operationId: 'op', preparation, signal });
}

describe('CompactionRunner', () => {
  it('puts the summary, with what is known of it, in place of the old messages', async () => {
    const { result, history } = await run(writing('  S1\n'));
    const summary = {
      content: 'S1',
      source: 'test',
      historyStart: 0,
      firstKept: 2,
      messageCount: 2,
      tokensBefore: PREPARED.tokensBefore,
    };
    expect(result).toEqual({ operationId: 'op', trigger: 'pressure', status: 'completed', summary, error: null });
    expect(history).toEqual([summaryMessage(summary), user('two'), said('b')]);
    expect(HISTORY).toHaveLength(4);
  });

  it('hands the previous summary on and replaces it', async () => {
    const previous = summaryEntry('S1');
    const old = { ...summaryEntry('S0'), source: 'older' };
    const preparation = prepareCompaction(
      [SYS, summaryMessage(old), summaryMessage(previous), ...HISTORY],
      policyOf(1_000, 0, 1),
    );
    const asked: CompactionRequest[] = [];
    const compactor = compactorOf((request) => {
      asked.push(request);
      return Promise.resolve({ content: 'S2', source: 'test' });
    });
    const { result, history } = await run(compactor, preparation);
    expect(asked[0]?.previousSummary).toBe(previous);
    expect(result.summary).toMatchObject({ content: 'S2', historyStart: 3, firstKept: 5, messageCount: 4 });
    // Only the newest is handed on, so that an older one would be lost if it went too.
    expect(history?.map(({ content }) => content)).toEqual([
      'SYS',
      summaryMessage(old).content,
      summaryMessage(summaryEntry('S2')).content,
      'two',
      'b',
    ]);
  });

  it('skips, without asking anybody, what cannot be compacted', async () => {
    let asked = 0;
    const compactor = compactorOf(() => Promise.reject(new Error(`asked ${++asked}`)));
    const { result, history } = await run(compactor, prepareCompaction([user('one')], policyOf(1_000, 0, 1)));
    expect(result).toMatchObject({ status: 'skipped', summary: null, error: null });
    expect([history, asked]).toEqual([null, 0]);
  });

  it.each<[string, Compactor, RegExp]>([
    ['rejects', compactorOf(() => Promise.reject(new Error('summary model down'))), /^summary model down$/u],
    [
      'throws at once',
      compactorOf(() => {
        throw new Error('no model');
      }),
      /^no model$/u,
    ],
    ['writes nothing', writing(' \n '), /no text/u],
    ['gives back no text', compactorOf(() => Promise.resolve({} as CompactorOutput)), /no text/u],
    ['gives back nothing', compactorOf(() => Promise.resolve(undefined as unknown as CompactorOutput)), /no text/u],
    ['writes more than it replaces', writing('x'.repeat(500)), /takes 147 tokens.*the 125 that it replaces/u],
  ])('fails and leaves the history alone if the compactor %s', async (_name, compactor, error) => {
    const { result, history } = await run(compactor);
    expect(result).toMatchObject({ status: 'failed', summary: null, error: expect.stringMatching(error) as string });
    expect(history).toBeNull();
  });

  it('does not take a source that is none', async () => {
    const compactor = compactorOf(() => Promise.resolve({ content: 'S', source: ' ' }));
    expect((await run(compactor)).result.summary?.source).toBe('compactor');
  });

  it('makes requests with an id of their own', () => {
    const runner = runnerOf(writing('S'));
    expect(runner.request('overflow', PREPARED)).toEqual({
      operationId: 'id1',
      trigger: 'overflow',
      preparation: PREPARED,
      previousSummary: null,
    });
    expect(runner.request('overflow', PREPARED).operationId).toBe('id2');
  });
});

describe('CompactionRunner: the end of waiting', () => {
  it('leaves a compactor behind that does not heed the signal, and ignores its late answer', async () => {
    const controller = new AbortController();
    const late = Promise.withResolvers<CompactorOutput>();
    const seen: AbortSignal[] = [];
    const compactor = compactorOf((_request, signal) => {
      seen.push(signal);
      return late.promise;
    });
    const outcome = run(compactor, PREPARED, controller.signal);
    controller.abort('the user said stop');
    expect(await outcome).toMatchObject({
      result: { status: 'cancelled', error: 'the user said stop' },
      history: null,
    });
    expect(seen[0]?.aborted).toBe(true);
    late.reject(new Error('too late'));
    await expect(late.promise).rejects.toThrow('too late');
  });

  it('asks nobody if it was aborted before', async () => {
    let asked = 0;
    const compactor = compactorOf(() => Promise.resolve({ content: `asked ${++asked}`, source: 'test' }));
    const { result } = await run(compactor, PREPARED, AbortSignal.abort(new Error('gone')));
    expect([result.status, result.error, asked]).toEqual(['cancelled', 'gone', 0]);
  });

  it('is cancelled, not completed, if the abort came while the summary was written', async () => {
    const controller = new AbortController();
    const compactor = compactorOf(() => {
      controller.abort('stop');
      return Promise.resolve({ content: 'S', source: 'test' });
    });
    expect((await run(compactor, PREPARED, controller.signal)).result.status).toBe('cancelled');
  });

  it('is cancelled, not completed, if the abort came when the summary was there', async () => {
    const controller = new AbortController();
    const output: CompactorOutput = {
      source: 'test',
      get content() {
        controller.abort('stop');
        return 'S';
      },
    };
    const outcome = await run(
      compactorOf(() => Promise.resolve(output)),
      PREPARED,
      controller.signal,
    );
    expect(outcome).toMatchObject({ result: { status: 'cancelled', summary: null, error: 'stop' }, history: null });
  });

  it('fails when the time is over', async () => {
    const compactor = compactorOf(() => new Promise(() => undefined));
    const { result } = await run(compactor, PREPARED, new AbortController().signal, 5);
    expect(result).toMatchObject({ status: 'failed', error: 'the summary was not written within 5 ms' });
  });

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    await run(writing('S'), PREPARED, signal);
    await run(
      compactorOf(() => Promise.reject(new Error('x'))),
      PREPARED,
      signal,
    );
    await run(
      compactorOf(() => new Promise(() => undefined)),
      PREPARED,
      signal,
      5,
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

/** Evaluates, cuts and summarises as a run does in one turn; the new history, or null if nothing was compacted. */
async function compactOnce(
  history: readonly Message[],
  policy: ReturnType<typeof policyOf>,
  trigger: CompactionTrigger,
  summary = 'S',
): Promise<readonly Message[] | null> {
  const meter = new ContextMeter();
  const decision = decideCompaction(policy, meter.measure([SYS, ...history], []));
  if (trigger === 'pressure' && !decision.shouldCompact) return null;
  const preparation = prepareCompaction(history, policy, { trigger, meter });
  const operation = { trigger, operationId: 'op', preparation, signal: new AbortController().signal };
  return (await runnerOf(writing(summary)).run(operation)).history;
}

/** For how many messages the summaries of a history stand. */
function countOf(history: readonly Message[]): number {
  return history.reduce((sum, message) => sum + (isSummary(message) ? message.summary.messageCount : 0), 0);
}

describe('compaction again and again', () => {
  it('ignores what a model reported before the cut', async () => {
    const report = usageOf(4_999, 1);
    const history = [user('one'), said('a'), user('two'), { ...said('b'), usage: report }, user('three')];
    const policy = policyOf(1_000, 100, 30);
    const meter = new ContextMeter();
    expect(meter.measure([SYS, ...history], []).totalTokens).toBe(5_013);
    const compacted = await compactOnce(history, policy, 'pressure');
    expect(compacted?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    const after = meter.measure([SYS, ...(compacted ?? [])], []);
    expect(after).toMatchObject({ source: 'estimated', reportedTokens: null });
    expect(after.totalTokens).toBeLessThan(80);
    expect(await compactOnce(compacted ?? [], policy, 'pressure')).toBeNull();
    const reported = [SYS, ...(compacted ?? []), { ...said('c'), usage: usageOf(300, 10) }];
    expect(meter.measure(reported, [])).toMatchObject({ source: 'reported', totalTokens: 310 });
  });

  it('frees a context that one long turn has filled, and keeps the task before it', async () => {
    const policy = policyOf(1_000, 100, 200);
    const task = user('one huge task');
    let history: readonly Message[] = [task];
    let compactions = 0;
    for (let turn = 0; turn < 200; turn++) {
      history = [...history, ...steps(1, 'written', `t${turn}-`)];
      const compacted = await compactOnce(history, policy, 'pressure');
      if (compacted === null) continue;
      expect(compacted.slice(0, 3).map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
      expect(compacted[1]).toBe(task);
      history = compacted;
      compactions++;
    }
    expect(new ContextMeter().measure(history, []).totalTokens).toBeLessThan(900);
    // A step is 55 tokens: each compaction makes room for at least six of them.
    expect(compactions).toBeGreaterThan(3);
    expect(compactions).toBeLessThan(200 / 6);
  });

  it('counts a task that was carried along when its turn is over and it is summarised itself', async () => {
    const policy = policyOf(1_000, 100, 200);
    const cut = (await compactOnce([user('task'), ...steps(20)], policy, 'pressure')) ?? [];
    expect(countOf(cut)).toBe(41 - (cut.length - 1));
    expect(cut[1]).toEqual(user('task'));
    const next = [...cut, user('next'), said('x'.repeat(1_000))];
    const compacted = (await compactOnce(next, policy, 'explicit')) ?? [];
    expect(compacted.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
    expect(countOf(compacted)).toBe(41);
  });

  it('does not happen twice for the same pressure, whatever the history and the budget', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, anyPolicy, async (history, policy) => {
        const compacted = await compactOnce(history, policy, 'pressure');
        fc.pre(compacted !== null);
        expect(await compactOnce(compacted, policy, 'pressure')).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('makes the history smaller each time, counts each message once, and ends', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, anyPolicy, anyTrigger, fc.nat(900), async (given, policy, trigger, length) => {
        let history: readonly Message[] = given;
        for (let round = 0; ; round++) {
          expect(round).toBeLessThan(given.length);
          const compacted = await compactOnce(history, policy, trigger, `S${'x'.repeat(length)}`);
          if (compacted === null) break;
          const before = new ContextMeter().measure(history, []).totalTokens;
          expect(new ContextMeter().measure(compacted, []).totalTokens).toBeLessThan(before);
          expect(countOf(compacted) + compacted.filter((message) => !isSummary(message)).length).toBe(given.length);
          history = compacted;
        }
      }),
    );
  });
});
