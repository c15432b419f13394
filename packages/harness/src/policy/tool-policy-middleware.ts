import { quietLogger, type HarnessLogger } from '../logger.js';
import { messageOf } from '../errors.js';
import { StepOutcome } from '../tools/step-outcome.js';
import type { TaskContext, ToolCallContext, ToolMiddleware, ToolNext } from '../tools/tool-handler.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { boundedWait, WaitTimeoutError } from './bounded-wait.js';
import type { ToolApprovalDecision, ToolApprover } from './tool-approver.js';
import type { ToolExecutionPolicy, ToolPolicyDecision } from './tool-policy.js';
import { isAction } from './tool-policy-rule.js';

/** What a denied call does to its run: `end_run` ends it, `tell_model` lets the model try something else. */
export const DENIAL_MODES = ['end_run', 'tell_model'] as const;
export type DenialMode = (typeof DENIAL_MODES)[number];

export interface ToolPolicyMiddlewareOptions {
  /** Without one, every call that requires approval is denied. */
  readonly approver?: ToolApprover;
  /** Default `end_run`. */
  readonly denial?: DenialMode;
  /** How long an answer may take, in milliseconds; then the call is denied. Default 600,000. */
  readonly approvalTimeoutMs?: number;
  /** How long the policy itself may take, in milliseconds; then the call is denied. Default 30,000. */
  readonly evaluationTimeoutMs?: number;
  readonly logger?: HarnessLogger;
}

/** The longest time that a timer of the platform can wait. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * Asks a policy about every call, and an approver where the policy says so. Whatever goes wrong on the way denies
 * the call. A denied call's result is `{status: "rejected", tool, reason, rule_id?}`, never its arguments. An aborted
 * call throws the reason of its signal, and its tool is not started.
 */
export class ToolPolicyMiddleware implements ToolMiddleware {
  readonly #policy: ToolExecutionPolicy;
  readonly #approver: ToolApprover | undefined;
  readonly #denial: DenialMode;
  readonly #approvalTimeoutMs: number;
  readonly #evaluationTimeoutMs: number;
  readonly #logger: HarnessLogger;

  /** @throws RangeError for a time or a denial mode that is not valid. */
  constructor(policy: ToolExecutionPolicy, options: ToolPolicyMiddlewareOptions = {}) {
    this.#policy = policy;
    this.#approver = options.approver;
    this.#denial = options.denial ?? 'end_run';
    if (!DENIAL_MODES.includes(this.#denial)) throw new RangeError('denial must be end_run or tell_model');
    this.#approvalTimeoutMs = timeout(options.approvalTimeoutMs ?? 600_000, 'approvalTimeoutMs');
    this.#evaluationTimeoutMs = timeout(options.evaluationTimeoutMs ?? 30_000, 'evaluationTimeoutMs');
    this.#logger = options.logger ?? quietLogger;
  }

  async start(_tools: readonly ToolDefinition[], signal: AbortSignal): Promise<void> {
    await this.#policy.start?.(signal);
  }

  async stop(): Promise<void> {
    await this.#policy.stop?.();
  }

  async onTask(task: TaskContext): Promise<void> {
    await this.#policy.onTask?.(task);
  }

  async handle(context: ToolCallContext, next: ToolNext): Promise<StepOutcome> {
    const decision = await this.#evaluate(context);
    if (typeof decision === 'string') return this.#reject(context, decision);
    if (decision.action === 'deny') {
      return this.#reject(context, decision.reason ?? 'tool execution denied by policy', decision.ruleId);
    }
    if (decision.action === 'require_approval') {
      const refusal = await this.#refusalOf(context, decision);
      if (refusal !== undefined) return this.#reject(context, refusal, decision.ruleId);
    }
    context.signal.throwIfAborted();
    return next(context);
  }

  /** The policy's decision, or in words why there is none. */
  async #evaluate(context: ToolCallContext): Promise<ToolPolicyDecision | string> {
    try {
      const given: unknown = this.#policy.evaluate(context);
      if (isDecision(given)) return given;
      const decision = await boundedWait<unknown>(() => given, context.signal, this.#evaluationTimeoutMs);
      return isDecision(decision) ? decision : 'tool policy returned an invalid decision';
    } catch (error) {
      context.signal.throwIfAborted();
      this.#logger.warn('tool policy failed, call denied', { tool: context.tool.name, error: messageOf(error) });
      return 'tool policy evaluation failed';
    }
  }

  /** Why a call was not approved; undefined if it was. */
  async #refusalOf(context: ToolCallContext, decision: ToolPolicyDecision): Promise<string | undefined> {
    const approver = this.#approver;
    if (approver === undefined) return 'tool execution requires approval but no approver is configured';
    let answer: unknown;
    try {
      const ask = (signal: AbortSignal) => approver.approve(approvalRequest(context, decision), signal);
      answer = await boundedWait<unknown>(ask, context.signal, this.#approvalTimeoutMs);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof WaitTimeoutError) return 'tool approval timed out';
      this.#logger.warn('tool approver failed, call denied', { tool: context.tool.name, error: messageOf(error) });
      return 'tool approval failed';
    }
    if (!isApprovalDecision(answer)) return 'tool approver returned an invalid decision';
    if (answer.approved) return undefined;
    return given(answer.reason) ?? decision.reason ?? 'tool execution approval was denied';
  }

  #reject(context: ToolCallContext, reason: string, ruleId?: string): StepOutcome {
    const data = {
      status: 'rejected',
      tool: context.tool.name,
      reason,
      ...(ruleId !== undefined && { rule_id: ruleId }),
    };
    return new StepOutcome(data, { control: this.#denial === 'end_run' ? 'reject' : 'continue' });
  }
}

function approvalRequest(context: ToolCallContext, decision: ToolPolicyDecision) {
  const { agentId, runId, turn, callId, tool } = context;
  return {
    agentId,
    runId,
    turn,
    callId,
    toolName: tool.name,
    // What was approved must be what runs, whatever the approver does with its copy.
    arguments: structuredClone(context.arguments),
    effect: tool.effect,
    reason: decision.reason ?? null,
    ruleId: decision.ruleId ?? null,
  };
}

function isDecision(value: unknown): value is ToolPolicyDecision {
  if (typeof value !== 'object' || value === null) return false;
  const { action, reason, ruleId } = value as Readonly<Record<string, unknown>>;
  return isAction(action) && isOptionalText(reason) && isOptionalText(ruleId);
}

function isApprovalDecision(value: unknown): value is ToolApprovalDecision {
  if (typeof value !== 'object' || value === null) return false;
  const { approved, reason } = value as Readonly<Record<string, unknown>>;
  return typeof approved === 'boolean' && isOptionalText(reason);
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

function timeout(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_TIMEOUT_MS) {
    throw new RangeError(`${name} must be from 1 to ${MAX_TIMEOUT_MS}`);
  }
  return value;
}
