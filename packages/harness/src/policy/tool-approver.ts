import type { ToolEffect } from '../enums.js';
import type { JsonObject } from '../json.js';

/** A call that waits for somebody's consent. */
export interface ToolApprovalRequest {
  readonly agentId: string;
  readonly runId: string;
  /** From 1 in each run. */
  readonly turn: number;
  readonly callId: string;
  readonly toolName: string;
  /** A copy: changing it does not change what the tool gets. */
  readonly arguments: JsonObject;
  readonly effect: ToolEffect;
  /** Why the policy asks; null if its rule does not say. */
  readonly reason: string | null;
  readonly ruleId: string | null;
}

export interface ToolApprovalDecision {
  /** Exactly `true` lets the call run. */
  readonly approved: boolean;
  /** Shown to the model when the call was not approved. */
  readonly reason?: string;
}

/** Asks whoever decides: a person, another service. */
export interface ToolApprover {
  /**
   * `signal` is aborted when the question is no longer open: the run was aborted or the time for an answer is over.
   * What it throws denies the call.
   */
  approve(request: ToolApprovalRequest, signal: AbortSignal): Promise<ToolApprovalDecision>;
}
