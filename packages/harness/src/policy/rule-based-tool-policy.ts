import type { ToolPolicyAction } from '../enums.js';
import type { TaskContext, ToolCallContext } from '../tools/tool-handler.js';
import { RunCallCounts } from './run-call-counts.js';
import type { ToolExecutionPolicy, ToolPolicyDecision } from './tool-policy.js';
import {
  checkRule,
  isAction,
  requireText,
  ruleMatches,
  type CheckedRule,
  type ToolPolicyRule,
} from './tool-policy-rule.js';

export interface RuleBasedToolPolicyOptions {
  /** For calls that no rule matches. Default `deny`. */
  readonly defaultAction?: ToolPolicyAction;
  /** Told with the default action. */
  readonly defaultReason?: string;
}

/**
 * Ordered rules, the first match decides. A place under `maxCallsPerRun` is taken before anybody is asked for
 * approval and is not given back, so the limit counts attempts.
 *
 * @example
 * new RuleBasedToolPolicy([
 *   { ruleId: 'ask', action: 'require_approval', effects: ['side_effecting'], maxCallsPerRun: 5 },
 *   { ruleId: 'reads', action: 'allow', effects: ['read_only'] },
 * ]);
 */
export class RuleBasedToolPolicy implements ToolExecutionPolicy {
  readonly #rules: readonly CheckedRule[];
  readonly #default: ToolPolicyDecision;
  readonly #counts = new RunCallCounts();

  /** @throws RangeError for a rule that is not valid and for two rules with one id. */
  constructor(rules: readonly ToolPolicyRule[], options: RuleBasedToolPolicyOptions = {}) {
    this.#rules = rules.map(checkRule);
    const ids = new Set(this.#rules.map((rule) => rule.ruleId));
    if (ids.size !== this.#rules.length) throw new RangeError('ruleId must be unique within a tool policy');
    const action = options.defaultAction ?? 'deny';
    if (!isAction(action)) throw new RangeError('defaultAction must be allow, deny or require_approval');
    if (options.defaultReason !== undefined) requireText(options.defaultReason, 'defaultReason');
    this.#default = options.defaultReason === undefined ? { action } : { action, reason: options.defaultReason };
  }

  onTask(task: TaskContext): void {
    this.#counts.reset(task.runId);
  }

  evaluate(context: ToolCallContext): Promise<ToolPolicyDecision> | ToolPolicyDecision {
    return this.#evaluateFrom(0, context);
  }

  #evaluateFrom(first: number, context: ToolCallContext): Promise<ToolPolicyDecision> | ToolPolicyDecision {
    for (const [index, rule] of this.#rules.entries()) {
      if (index < first) continue;
      const matched = ruleMatches(rule, context);
      if (typeof matched !== 'boolean') {
        return matched.then((yes) => (yes ? this.#decide(rule, context) : this.#evaluateFrom(index + 1, context)));
      }
      if (matched) return this.#decide(rule, context);
    }
    return this.#default;
  }

  #decide(rule: CheckedRule, context: ToolCallContext): ToolPolicyDecision {
    const { ruleId, action, reason, maxCallsPerRun } = rule;
    if (maxCallsPerRun !== undefined && !this.#counts.reserve(context.runId, ruleId, maxCallsPerRun)) {
      return { action: 'deny', reason: `tool call limit reached for policy rule '${ruleId}'`, ruleId };
    }
    return reason === undefined ? { action, ruleId } : { action, reason, ruleId };
  }
}
