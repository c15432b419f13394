import type { RunUsage } from '../model/usage.js';
import type { RunBudget } from '../result.js';
import { failedWith, type RunEnding } from './run-ending.js';

/**
 * Whether a run may ask the model once more; the ending if not. The first request is always allowed. What is unknown
 * is not zero: a limit on tokens that a request did not report ends the run as well.
 */
export function checkBudget(budget: RunBudget, usage: RunUsage): RunEnding | null {
  if (usage.requestCount === 0) return null;
  const limits = [
    { used: usage.totalTokens, limit: budget.maxTotalTokens, unit: 'tokens' },
    { used: usage.inputTokens, limit: budget.maxInputTokens, unit: 'input tokens' },
    { used: usage.outputTokens, limit: budget.maxOutputTokens, unit: 'output tokens' },
  ];
  const limited = limits.filter(({ limit }) => limit !== undefined);
  const unreported = usage.requestCount - usage.reportedRequestCount;
  if (limited.length > 0 && unreported > 0) {
    return failedWith('usage_unavailable', `a token budget is set and ${unreported} request(s) did not report usage`);
  }
  const unknown = limited.find(({ used }) => used === null);
  if (unknown !== undefined) {
    return failedWith('usage_unavailable', `a budget for ${unknown.unit} is set and the model does not report them`);
  }
  const { requestCount } = usage;
  const all = [...limited, { used: requestCount, limit: budget.maxRequests, unit: 'requests' }];
  const spent = all.find(({ used, limit }) => limit !== undefined && (used ?? 0) >= limit);
  if (spent === undefined) return null;
  return failedWith('token_budget_exceeded', `the run used ${spent.used} of ${spent.limit} ${spent.unit}`);
}
