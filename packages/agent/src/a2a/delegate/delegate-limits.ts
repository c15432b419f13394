export interface DelegateLimits {
  /** Delegations in a row, so that two agents cannot call each other for ever. Default 4. */
  readonly maxHops: number;
  /** Partners that are called at most, one after the other. Default 4. */
  readonly maxPartners: number;
  /** Negotiating with one candidate. Default 2,000. */
  readonly candidateTimeoutMs: number;
  /** From the call to the partner's first word. Default 15,000. */
  readonly firstAnswerMs: number;
  /** From the call to the end of the task. Default 600,000. */
  readonly taskMs: number;
  /** Finding out what became of a task whose partner broke off. Default 10,000. */
  readonly settleMs: number;
  /** Cancelling the partner's task. Default 5,000. */
  readonly cancelMs: number;
  /** All artifacts together; more ends the task. Default 16 MiB. */
  readonly maxArtifactBytes: number;
}

export const DEFAULT_DELEGATE_LIMITS: DelegateLimits = {
  maxHops: 4,
  maxPartners: 4,
  candidateTimeoutMs: 2_000,
  firstAnswerMs: 15_000,
  taskMs: 600_000,
  settleMs: 10_000,
  cancelMs: 5_000,
  maxArtifactBytes: 16 * 1_048_576,
};
