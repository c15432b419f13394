import fc from 'fast-check';
import type { ModelUsage, RunUsage } from './usage.js';
import { addUsage, emptyRunUsage, isUsageComplete, normalizeUsage } from './usage-accounting.js';

function report(values: Partial<ModelUsage>): ModelUsage {
  const none = { inputTokens: null, outputTokens: null, totalTokens: null };
  return { ...none, cacheReadTokens: null, cacheWriteTokens: null, reasoningTokens: null, ...values };
}

const ten = report({ inputTokens: 9, outputTokens: 1, totalTokens: 10 });
const visible = { visibleOutput: true };

function totals({ totalTokens, requestCount, reportedRequestCount }: RunUsage): readonly unknown[] {
  return [totalTokens, requestCount, reportedRequestCount];
}

describe('addUsage', () => {
  it('has zero tokens before the first request, and no optional counters', () => {
    expect(emptyRunUsage()).toEqual({
      ...report({ inputTokens: 0, outputTokens: 0, totalTokens: 0 }),
      requestCount: 0,
      reportedRequestCount: 0,
    });
    expect(isUsageComplete(emptyRunUsage())).toBe(true);
  });

  it.each([
    ['one report', [ten], [10, 1, 1]],
    ['two reports', [ten, ten], [20, 2, 2]],
    ['a request that failed', [null], [0, 1, 0]],
    ['a failure and a report', [null, ten], [10, 2, 1]],
    ['a report and a failure', [ten, null], [10, 2, 1]],
  ] as const)('sums %s', (_name, usages, expected) => {
    expect(totals(usages.reduce((run: RunUsage, usage) => addUsage(run, usage), emptyRunUsage()))).toEqual(expected);
  });

  it('tells whether every request has reported', () => {
    expect(isUsageComplete(addUsage(emptyRunUsage(), ten))).toBe(true);
    expect(isUsageComplete(addUsage(addUsage(emptyRunUsage(), ten), null))).toBe(false);
  });

  it('does not know a counter any more that one report lacks', () => {
    const first = addUsage(emptyRunUsage(), report({ ...ten, cacheReadTokens: 4, reasoningTokens: 0 }));
    expect(first).toMatchObject({ cacheReadTokens: 4, reasoningTokens: 0, cacheWriteTokens: null });
    const second = addUsage(first, ten);
    expect(second).toMatchObject({ cacheReadTokens: null, totalTokens: 20 });
    expect(addUsage(second, report({ ...ten, cacheReadTokens: 4 })).cacheReadTokens).toBeNull();
  });

  it('does not know the total any more after a report without one', () => {
    const odd = addUsage(addUsage(emptyRunUsage(), ten), report({ inputTokens: 3 }));
    expect(odd).toMatchObject({ inputTokens: 12, outputTokens: null, totalTokens: null, reportedRequestCount: 2 });
    expect(addUsage(odd, ten).totalTokens).toBeNull();
  });

  it('leaves the usage before as it was', () => {
    const before = addUsage(emptyRunUsage(), ten);
    const copy = { ...before };
    addUsage(before, ten);
    expect(before).toEqual(copy);
    expect(emptyRunUsage().requestCount).toBe(0);
  });
});

describe('normalizeUsage', () => {
  it('keeps a sound report', () => {
    const sound = { ...ten, cacheReadTokens: 9, cacheWriteTokens: 0, reasoningTokens: 1 };
    expect(normalizeUsage(sound, visible)).toEqual({ usage: sound, warning: null });
  });

  it.each([[null], [undefined]])('has nothing to say about %s', (raw) => {
    expect(normalizeUsage(raw, visible)).toEqual({ usage: null, warning: null });
  });

  it('adds up a total that is missing', () => {
    expect(normalizeUsage({ inputTokens: 9, outputTokens: 1 }, visible)).toEqual({ usage: ten, warning: null });
  });

  it('believes zeros only if nothing is to be seen', () => {
    const zeros = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    expect(normalizeUsage(zeros, visible)).toMatchObject({
      usage: null,
      warning: expect.stringContaining('no tokens'),
    });
    expect(normalizeUsage(zeros, { visibleOutput: false })).toEqual({ usage: report(zeros), warning: null });
  });

  it.each([
    ['total', { ...ten, totalTokens: 11 }],
    ['cached', { ...ten, cacheReadTokens: 10 }],
    ['cached', { ...ten, cacheWriteTokens: 10 }],
    ['reasoning', { ...ten, reasoningTokens: 2 }],
  ])('ignores a report with an impossible %s', (word, raw) => {
    expect(normalizeUsage(raw, visible)).toEqual({ usage: null, warning: expect.stringContaining(word) });
  });

  it.each([[-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY], ['5'], [{}], [2 ** 53]])(
    'does not know a counter that is %p',
    (value) => {
      expect(normalizeUsage({ ...ten, reasoningTokens: value }, visible)).toEqual({
        usage: ten,
        warning: expect.stringContaining('reasoningTokens'),
      });
      expect(normalizeUsage({ inputTokens: value, outputTokens: 1 }, visible).usage).toEqual(
        report({ outputTokens: 1 }),
      );
    },
  );

  it('gives nothing or something sound for whatever comes', () => {
    const raw = fc.dictionary(
      fc.constantFrom(
        'inputTokens',
        'outputTokens',
        'totalTokens',
        'cacheReadTokens',
        'cacheWriteTokens',
        'reasoningTokens',
      ),
      fc.oneof(fc.integer({ min: -3, max: 20 }), fc.anything()),
    );
    fc.assert(
      fc.property(raw, fc.boolean(), (value, visibleOutput) => {
        const { usage } = normalizeUsage(value, { visibleOutput });
        if (usage === null) return;
        const { inputTokens: input, outputTokens: output, totalTokens: total } = usage;
        for (const counter of Object.values(usage))
          expect(counter === null || (Number.isInteger(counter) && counter >= 0)).toBe(true);
        if (input !== null && output !== null && total !== null) expect(total).toBe(input + output);
        if (input !== null) expect(usage.cacheReadTokens ?? 0).toBeLessThanOrEqual(input);
        if (output !== null) expect(usage.reasoningTokens ?? 0).toBeLessThanOrEqual(output);
      }),
    );
  });
});
