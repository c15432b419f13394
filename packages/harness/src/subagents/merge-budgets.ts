import type { RunBudget } from '../result.js';

const LIMITS = ['maxTotalTokens', 'maxInputTokens', 'maxOutputTokens', 'maxRequests'] as const;

/** The smaller of two limits, where one or both are given. */
export function smaller(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}

/** Keeps to both. */
export function bothBudgets(left: RunBudget | undefined, right: RunBudget | undefined): RunBudget | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const limits = LIMITS.map((limit) => [limit, smaller(left[limit], right[limit])] as const);
  return Object.fromEntries(limits.filter(([, value]) => value !== undefined));
}
