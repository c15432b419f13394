import type { CompactionDecision, CompactionPolicy, ContextBudget, ContextUsageEstimate } from './compaction-types.js';

/** Pressure begins here: window − reserve. */
export function thresholdTokens(budget: ContextBudget): number {
  return budget.windowTokens - budget.reserveTokens;
}

/**
 * Checks what a policy was made of; whoever takes one in calls it once.
 *
 * @throws RangeError naming the field: whole numbers, window > reserve ≥ 0, 0 < keepRecent ≤ window − reserve.
 */
export function checkCompactionPolicy(policy: CompactionPolicy): void {
  const { windowTokens, reserveTokens, keepRecentTokens } = policy.budget;
  requireWhole('windowTokens', windowTokens, 1);
  requireWhole('reserveTokens', reserveTokens, 0);
  requireWhole('keepRecentTokens', keepRecentTokens, 1);
  if (reserveTokens >= windowTokens) throw new RangeError('reserveTokens must be less than windowTokens');
  if (keepRecentTokens > thresholdTokens(policy.budget)) {
    throw new RangeError('keepRecentTokens must not exceed windowTokens - reserveTokens');
  }
}

/** Whether a context of that size is to be compacted. */
export function decideCompaction(policy: CompactionPolicy, estimate: ContextUsageEstimate): CompactionDecision {
  const threshold = thresholdTokens(policy.budget);
  if (policy.enabled === false) {
    return { shouldCompact: false, reason: 'disabled', estimate, thresholdTokens: threshold };
  }
  const shouldCompact = estimate.totalTokens >= threshold;
  const reason = shouldCompact ? 'threshold_reached' : 'below_threshold';
  return { shouldCompact, reason, estimate, thresholdTokens: threshold };
}

function requireWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`${name} must be a whole number of at least ${least}`);
}
