import { checkCompactionPolicy, decideCompaction } from './compaction-decision.js';
import type { ContextUsageEstimate } from './compaction-types.js';
import { policyOf } from './histories.test-helper.js';

function estimateOf(totalTokens: number): ContextUsageEstimate {
  return { totalTokens, source: 'estimated', reportedTokens: null, estimatedTokens: totalTokens, messageCount: 1 };
}

describe('decideCompaction', () => {
  it.each([
    [149, false, 'below_threshold'],
    [150, true, 'threshold_reached'],
    [151, true, 'threshold_reached'],
  ])('with %d tokens of 150: %s', (tokens, shouldCompact, reason) => {
    const estimate = estimateOf(tokens);
    const decision = decideCompaction(policyOf(200, 50, 20), estimate);
    expect(decision).toEqual({ shouldCompact, reason, estimate, thresholdTokens: 150 });
  });

  it('only looks if it is disabled', () => {
    const decision = decideCompaction({ ...policyOf(200, 50, 20), enabled: false }, estimateOf(500));
    expect(decision).toMatchObject({ shouldCompact: false, reason: 'disabled', thresholdTokens: 150 });
  });
});

describe('checkCompactionPolicy', () => {
  it.each<[string, [number, number, number]]>([
    ['windowTokens', [0, 0, 1]],
    ['windowTokens', [Number.NaN, 0, 1]],
    ['reserveTokens', [100, -1, 1]],
    ['reserveTokens', [100, 100, 1]],
    ['keepRecentTokens', [100, 10, 0]],
    ['keepRecentTokens', [100, 10, 1.5]],
    ['keepRecentTokens', [100, 10, 91]],
  ])('refuses a bad %s: %j', (field, [window, reserve, keep]) => {
    expect(() => checkCompactionPolicy(policyOf(window, reserve, keep))).toThrow(RangeError);
    expect(() => checkCompactionPolicy(policyOf(window, reserve, keep))).toThrow(new RegExp(`^${field}`, 'u'));
  });

  it('takes a budget at its limits', () => {
    expect(() => checkCompactionPolicy(policyOf(100, 10, 90))).not.toThrow();
    expect(() => checkCompactionPolicy(policyOf(1, 0, 1))).not.toThrow();
  });
});
