import type { RuntimePolicy } from '../agent/agent-options.js';

/** The part of a policy that concerns tools, complete. */
export interface ToolLimits {
  readonly repeatLimit: number;
  /** 1 if calls do not run at the same time. */
  readonly maxParallel: number;
  readonly timeoutMs: number | undefined;
  readonly graceMs: number;
  readonly maxResultBytes: number;
}

/** About 65,000 tokens: a larger result alone would fill the window of many models. */
export const DEFAULT_MAX_RESULT_BYTES = 262_144;
/** Below this the mark of a cut would not fit. */
const MIN_RESULT_BYTES = 256;

/** @throws RangeError naming the field that is out of range. */
export function toolLimits(policy: RuntimePolicy, maxResultBytes = DEFAULT_MAX_RESULT_BYTES): ToolLimits {
  const maxParallel = atLeast('maxParallelToolCalls', policy.maxParallelToolCalls ?? 8, 1);
  return {
    repeatLimit: atLeast('repeatLimit', policy.repeatLimit ?? 3, 1),
    maxParallel: policy.parallelToolCalls === true ? maxParallel : 1,
    timeoutMs: policy.toolTimeoutMs === undefined ? undefined : atLeast('toolTimeoutMs', policy.toolTimeoutMs, 1),
    graceMs: atLeast('abortGraceMs', policy.abortGraceMs ?? 5_000, 0),
    maxResultBytes: atLeast('maxResultBytes', maxResultBytes, MIN_RESULT_BYTES),
  };
}

function atLeast(field: string, value: number, minimum: number): number {
  if (value >= minimum) return value;
  throw new RangeError(`${field} must be at least ${minimum}`);
}
