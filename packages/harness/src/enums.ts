/** How a run ended. */
export const RUN_STATUSES = ['completed', 'failed', 'cancelled', 'rejected'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** What an agent is doing, or how its last run ended. */
export const AGENT_STATUSES = ['idle', 'running', ...RUN_STATUSES] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** Why a run ended. */
export const STOP_REASONS = [
  'text_response',
  'tool_completion',
  'tool_rejected',
  'tool_cancelled',
  'behavior_stop',
  'external_abort',
  'empty_response',
  'max_steps',
  'max_no_tool_responses',
  'repeated_tool_call',
  'token_budget_exceeded',
  'usage_unavailable',
  'context_overflow',
  'compaction_failed',
  'runtime_error',
  'persistence_failed',
  'output_truncated',
  'content_filtered',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

const STATUS_OF_REASON: Readonly<Partial<Record<StopReason, RunStatus>>> = {
  text_response: 'completed',
  tool_completion: 'completed',
  behavior_stop: 'completed',
  tool_rejected: 'rejected',
  tool_cancelled: 'cancelled',
  external_abort: 'cancelled',
};

/** The status that belongs to a stop reason: what is not listed as completed, rejected or cancelled has failed. */
export function statusOf(reason: StopReason): RunStatus {
  return STATUS_OF_REASON[reason] ?? 'failed';
}

/** Stop reasons after which the history is complete and another request makes sense. */
export const CONTINUABLE_STOP_REASONS: ReadonlySet<StopReason> = new Set<StopReason>([
  'text_response',
  'tool_completion',
  'behavior_stop',
  'empty_response',
  'max_steps',
  'max_no_tool_responses',
  'token_budget_exceeded',
  'usage_unavailable',
  'output_truncated',
]);

/** Why a run cannot be continued; checked in this order. */
export const CONTINUE_REJECTED_REASONS = [
  'agent_shutting_down',
  'agent_active',
  'no_previous_run',
  'unsupported_stop_reason',
  'incomplete_tool_state',
] as const;
export type ContinueRejectedReason = (typeof CONTINUE_REJECTED_REASONS)[number];

export const CONTROL_STATUSES = ['accepted', 'agent_idle', 'queue_full', 'run_closing'] as const;
export type ControlStatus = (typeof CONTROL_STATUSES)[number];

export const CONTROL_INPUT_KINDS = ['steering', 'follow_up'] as const;
export type ControlInputKind = (typeof CONTROL_INPUT_KINDS)[number];

/** What happens to waiting follow-ups when a run before them did not complete. */
export const FOLLOW_UP_FAILURE_POLICIES = ['discard', 'continue'] as const;
export type FollowUpFailurePolicy = (typeof FOLLOW_UP_FAILURE_POLICIES)[number];

export const FOLLOW_UP_DISCARD_REASONS = ['previous_run_not_completed', 'agent_shutdown'] as const;
export type FollowUpDiscardReason = (typeof FOLLOW_UP_DISCARD_REASONS)[number];

/** What a tool asks of the run that called it. */
export const TOOL_CONTROLS = ['continue', 'complete', 'reject', 'cancel'] as const;
export type ToolControl = (typeof TOOL_CONTROLS)[number];

/** `read_only` promises that calls may run at the same time as other read-only calls. */
export const TOOL_EFFECTS = ['read_only', 'side_effecting'] as const;
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

export const TOOL_POLICY_ACTIONS = ['allow', 'deny', 'require_approval'] as const;
export type ToolPolicyAction = (typeof TOOL_POLICY_ACTIONS)[number];

export const BEHAVIOR_ACTIONS = ['continue', 'stop'] as const;
export type BehaviorAction = (typeof BEHAVIOR_ACTIONS)[number];

export const MODEL_ERROR_KINDS = [
  'context_overflow',
  'rate_limit',
  'timeout',
  'authentication',
  'provider_error',
] as const;
export type ModelErrorKind = (typeof MODEL_ERROR_KINDS)[number];

export const COMPACTION_STATUSES = ['completed', 'skipped', 'failed', 'cancelled'] as const;
export type CompactionStatus = (typeof COMPACTION_STATUSES)[number];

export const COMPACTION_TRIGGERS = ['explicit', 'pressure', 'overflow'] as const;
export type CompactionTrigger = (typeof COMPACTION_TRIGGERS)[number];

export const COMPACTION_DECISION_REASONS = ['disabled', 'below_threshold', 'threshold_reached'] as const;
export type CompactionDecisionReason = (typeof COMPACTION_DECISION_REASONS)[number];

export const CONTEXT_USAGE_SOURCES = ['estimated', 'reported', 'mixed'] as const;
export type ContextUsageSource = (typeof CONTEXT_USAGE_SOURCES)[number];

export const SESSION_BRANCH_INTENTS = ['fork', 'rollback', 'retry'] as const;
export type SessionBranchIntent = (typeof SESSION_BRANCH_INTENTS)[number];

export const SESSION_RUN_INTENTS = ['task', 'continue'] as const;
export type SessionRunIntent = (typeof SESSION_RUN_INTENTS)[number];
