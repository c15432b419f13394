import type { ToolPolicyAction } from '../enums.js';
import type { TaskContext, ToolCallContext } from '../tools/tool-handler.js';

/** What a policy says about one call. */
export interface ToolPolicyDecision {
  readonly action: ToolPolicyAction;
  /** Shown to the model and to whoever approves; holds no argument values. */
  readonly reason?: string;
  /** The rule that decided; absent if none did. */
  readonly ruleId?: string;
}

/** Decides about every call of a known tool. What it throws denies the call. */
export interface ToolExecutionPolicy {
  start?(signal: AbortSignal): Promise<void> | void;
  stop?(): Promise<void>;
  /** Hears of every run before its first call. */
  onTask?(task: TaskContext): Promise<void> | void;
  evaluate(context: ToolCallContext): Promise<ToolPolicyDecision> | ToolPolicyDecision;
}
