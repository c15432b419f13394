import type { RuntimePolicy } from '../agent/agent-options.js';
import type { RunBudget } from '../result.js';

/** The part of a runtime policy that the loop itself keeps to, with all defaults filled in. */
export interface RunPolicy {
  readonly maxSteps: number;
  readonly requireExplicitFinish: boolean;
  readonly maxNoToolResponses: number;
  readonly budget: RunBudget;
  readonly modelTimeoutMs: number;
  readonly modelIdleTimeoutMs: number;
}

/** Timers of Node fire at once for more than this. */
const MAX_TIMER_MS = 2_147_483_647;

/** @throws RangeError naming the field that is out of range. */
export function runPolicyOf(policy: RuntimePolicy): RunPolicy {
  return {
    maxSteps: count('maxSteps', policy.maxSteps, 20),
    requireExplicitFinish: policy.requireExplicitFinish ?? false,
    maxNoToolResponses: count('maxNoToolResponses', policy.maxNoToolResponses, 3),
    budget: checkedBudget(policy.budget ?? {}),
    modelTimeoutMs: duration('modelTimeoutMs', policy.modelTimeoutMs, 600_000),
    modelIdleTimeoutMs: duration('modelIdleTimeoutMs', policy.modelIdleTimeoutMs, 120_000),
  };
}

/** @throws RangeError naming the limit that is no whole number from 1 up. */
export function checkedBudget(budget: RunBudget): RunBudget {
  count('maxTotalTokens', budget.maxTotalTokens, 1);
  count('maxInputTokens', budget.maxInputTokens, 1);
  count('maxOutputTokens', budget.maxOutputTokens, 1);
  count('maxRequests', budget.maxRequests, 1);
  return budget;
}

/** A whole number from 1 up. @throws RangeError */
export function count(name: string, value: number | undefined, fallback: number): number {
  const chosen = value ?? fallback;
  if (Number.isSafeInteger(chosen) && chosen >= 1) return chosen;
  throw new RangeError(`${name} must be a whole number from 1 up`);
}

function duration(name: string, value: number | undefined, fallback: number): number {
  const chosen = value ?? fallback;
  if (chosen > 0) return Math.min(chosen, MAX_TIMER_MS);
  throw new RangeError(`${name} must be more than 0`);
}
