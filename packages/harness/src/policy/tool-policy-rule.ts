import { TOOL_EFFECTS, TOOL_POLICY_ACTIONS, type ToolEffect, type ToolPolicyAction } from '../enums.js';
import type { ToolCallContext } from '../tools/tool-handler.js';

/** Anything but a boolean denies the call. */
export type ToolPolicyPredicate = (context: ToolCallContext) => boolean | Promise<boolean>;

/** One rule: it matches a call if every selector that it has does. */
export interface ToolPolicyRule {
  /** Unique within a policy. */
  readonly ruleId: string;
  readonly action: ToolPolicyAction;
  /** Exact names. Absent: every tool. */
  readonly tools?: readonly string[];
  /** Absent: every effect. */
  readonly effects?: readonly ToolEffect[];
  /** Asked last, only if the other selectors match. */
  readonly when?: ToolPolicyPredicate;
  /** Calls in one run that the rule lets through or asks about; further ones are denied. Not with `deny`. */
  readonly maxCallsPerRun?: number;
  /** Shown to the model and to whoever approves. */
  readonly reason?: string;
}

/** A rule that was checked, in the form in which it is asked. */
export interface CheckedRule {
  readonly ruleId: string;
  readonly action: ToolPolicyAction;
  readonly tools: ReadonlySet<string> | undefined;
  readonly effects: ReadonlySet<ToolEffect> | undefined;
  readonly when: ToolPolicyPredicate | undefined;
  readonly maxCallsPerRun: number | undefined;
  readonly reason: string | undefined;
}

/** @throws RangeError naming the rule and the field that is wrong. */
export function checkRule(rule: ToolPolicyRule): CheckedRule {
  requireText(rule.ruleId, 'ruleId of a tool policy rule');
  const name = `tool policy rule '${rule.ruleId}'`;
  if (!isAction(rule.action)) throw new RangeError(`${name}: action must be one of ${TOOL_POLICY_ACTIONS.join(', ')}`);
  if (rule.when !== undefined && typeof rule.when !== 'function')
    throw new RangeError(`${name}: when must be a function`);
  if (rule.reason !== undefined) requireText(rule.reason, `${name}: reason`);
  checkLimit(rule, name);
  return {
    ruleId: rule.ruleId,
    action: rule.action,
    tools: selector(rule.tools, `${name}: tools`, (tool) => typeof tool === 'string' && tool.trim() !== ''),
    effects: selector(rule.effects, `${name}: effects`, (effect) => TOOL_EFFECTS.includes(effect)),
    when: rule.when,
    maxCallsPerRun: rule.maxCallsPerRun,
    reason: rule.reason,
  };
}

/**
 * Whether a rule is meant for a call; a promise only if its predicate gives one.
 * @throws TypeError if the predicate gives no boolean, and what the predicate throws.
 */
export function ruleMatches(rule: CheckedRule, context: ToolCallContext): boolean | Promise<boolean> {
  if (rule.tools?.has(context.tool.name) === false) return false;
  if (rule.effects?.has(context.tool.effect) === false) return false;
  if (rule.when === undefined) return true;
  const answer: unknown = rule.when(context);
  if (typeof answer === 'boolean') return answer;
  return Promise.resolve(answer).then(requireBoolean);
}

export function isAction(value: unknown): value is ToolPolicyAction {
  return (TOOL_POLICY_ACTIONS as readonly unknown[]).includes(value);
}

export function requireText(value: unknown, what: string): void {
  if (typeof value !== 'string' || value.trim() === '') throw new RangeError(`${what} must be a non-empty text`);
}

function checkLimit(rule: ToolPolicyRule, name: string): void {
  const limit = rule.maxCallsPerRun;
  if (limit === undefined) return;
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`${name}: maxCallsPerRun must be at least 1`);
  if (rule.action === 'deny') throw new RangeError(`${name}: a rule that denies has no maxCallsPerRun`);
}

function selector<T>(
  values: readonly T[] | undefined,
  what: string,
  isValid: (value: T) => boolean,
): ReadonlySet<T> | undefined {
  if (values === undefined) return undefined;
  // A text would pass as a list of its letters.
  if (!Array.isArray(values) || values.length === 0) throw new RangeError(`${what} must be a list that is not empty`);
  if (!values.every(isValid)) throw new RangeError(`${what} has an entry that is not valid`);
  return new Set(values);
}

function requireBoolean(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new TypeError('the predicate of a tool policy rule must give a boolean');
  return value;
}
