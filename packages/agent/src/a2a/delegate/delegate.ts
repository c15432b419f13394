import type { Scalar } from '../../skill.js';
import type { A2aUpdate } from '../client/a2a-connection.js';
import type { TaskArtifact, TaskPart } from '../task-executor.js';

export interface DelegateRequest {
  /** A capability, also with a version range: `code_review@^1`. */
  readonly capability: string;
  readonly parts: readonly TaskPart[];
  readonly parameters: Readonly<Record<string, Scalar>>;
  /** Delegations that led here; one more goes along. */
  readonly hops: number;
  /** Aborting it cancels the remote task too. */
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  /** Hears of everything that the partner tells, as it comes: with the first word it has the work. */
  readonly onUpdate?: (update: A2aUpdate) => void;
}

export interface DelegateResult {
  readonly agentId: string;
  readonly taskId: string;
  readonly agreementId: string;
  /** The parameters that the partner says it applied; checked against what was agreed. */
  readonly applied: Readonly<Record<string, Scalar>>;
  /** The partner's last message, if it had one. */
  readonly text: string | undefined;
  readonly artifacts: readonly TaskArtifact[];
  /** Whom else it asked, and what came of it. */
  readonly attempts: readonly { readonly agentId: string; readonly outcome: string }[];
}

/**
 * Has work done by somebody else: discovers, negotiates, calls over A2A, follows the task, ends the agreement.
 *
 * @throws AppError: `failed_precondition` with `delegation_too_deep`, `negotiation_failed` (nobody agreed); `bad_gateway`
 * with `delegate_failed` (the partner ended the task failed or rejected, or broke off after it had begun: what it did is
 * not known); `cancelled` for an abort.
 */
export type Delegate = (request: DelegateRequest) => Promise<DelegateResult>;
