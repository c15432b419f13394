import fc from 'fast-check';
import type { Message } from '../messages.js';
import type { CompactionRequest } from './compaction-types.js';
import { headOf, shorten, tailOf } from './cut-text.js';
import { anyHistory, calls, result, said, steps, summaryEntry, user } from './histories.test-helper.js';
import { renderTranscript } from './transcript.js';

function requestOf(messagesToSummarize: readonly Message[], insideTurn = false): CompactionRequest {
  const previousSummary = summaryEntry('S1');
  const preparation = {
    protectedMessages: [],
    messagesToSummarize,
    messagesToKeep: [],
    previousSummary,
    historyStart: 0,
    firstKept: messagesToSummarize.length,
    carriedIndex: null,
    tokensBefore: 0,
    canCompact: true,
    insideTurn,
  };
  return { operationId: 'op', trigger: 'pressure', preparation, previousSummary };
}

describe('renderTranscript', () => {
  it('shows each message under its role, with calls and their results', () => {
    const both = { ...calls('c1', 'c2'), content: 'Two things.' };
    const system: Message = { role: 'system', content: 'rule' };
    const messages = [user('go'), system, both, result('c1', 'one'), result('c2', 'two'), said('done')];
    expect(renderTranscript(requestOf(messages), 10_000).split('\n\n')).toEqual([
      '[earlier summary]\nS1',
      '[user]\ngo',
      '[system]\nrule',
      '[assistant]\nTwo things.',
      '[assistant calls write, call c1]\n{"n":1}',
      '[assistant calls write, call c2]\n{"n":1}',
      '[result of call c1]\none',
      '[result of call c2]\ntwo',
      '[assistant]\ndone',
    ]);
  });

  it('shortens the longest texts first and leaves their ends', () => {
    const messages = [user('the task'), calls('c1'), result('c1', `BEGIN${'x'.repeat(100_000)}END`), said('done')];
    const text = renderTranscript(requestOf(messages), 8_000);
    expect(text.length).toBeLessThanOrEqual(8_000);
    expect(text.length).toBeGreaterThan(6_000);
    expect(text).toMatch(/the task[^]*BEGINx+ … \[\d+ characters left out\] … x+END[^]*done/u);
  });

  it('leaves out the middle of very many messages', () => {
    const messages = [user('the task'), ...steps(5_000), said('the end')];
    const text = renderTranscript(requestOf(messages, true), 8_000);
    expect(text.length).toBeLessThanOrEqual(8_000);
    expect(text).toMatch(/the task[^]*entries are left out here[^]*the end[^]*state that task in full/u);
  });

  it('shows a task that is carried along at its place, and does not ask for it', () => {
    const request = requestOf([user('old'), said('done'), ...steps(1)], true);
    const preparation = { ...request.preparation, messagesToKeep: [user('the task'), said('next')], carriedIndex: 2 };
    const text = renderTranscript({ ...request, preparation }, 10_000);
    expect(text).toMatch(/done\n\n\[user\]\nthe task\n\n\[assistant calls[^]*word for word/u);
    expect(text).not.toMatch(/state that task in full|next/u);
  });

  it('has no more than the characters that it may have', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 1, max: 5_000 }), fc.boolean(), (history, limit, inside) => {
        expect(renderTranscript(requestOf(history, inside), limit).length).toBeLessThanOrEqual(limit);
      }),
    );
  });
});

describe('cutting texts', () => {
  it('never leaves half of a pair', () => {
    const text = fc.string({ unit: 'binary', maxLength: 30 });
    fc.assert(
      fc.property(text, fc.nat(40), (given, length) => {
        const [head, tail] = [headOf(given, length), tailOf(given, length)];
        expect([head.isWellFormed(), tail.isWellFormed(), shorten(given, length).isWellFormed()]).toEqual([
          true,
          true,
          true,
        ]);
        expect(given.startsWith(head) && given.endsWith(tail)).toBe(true);
        expect(Math.min(length, given.length) - head.length).toBeLessThanOrEqual(1);
        expect(Math.min(length, given.length) - tail.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
