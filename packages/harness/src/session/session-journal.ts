import type { SessionRunIntent } from '../enums.js';
import type { ControlInput } from '../control.js';
import type { AssistantMessage, Message, SummaryEntry, ToolMessage } from '../messages.js';
import type { AgentRunResult } from '../result.js';

export interface RunOpening {
  readonly runId: string;
  readonly intent: SessionRunIntent;
  /** Null for a run that continues. */
  readonly task: string | null;
  readonly sequence: number;
  readonly signal: AbortSignal;
}

/**
 * Where a run is recorded before anybody hears of it: each method resolves when the record is durable, and
 * rejects with a SessionError when it is not; the run then ends `persistence_failed`. `sequence` is that of the
 * event which follows.
 */
export interface SessionJournal {
  readonly sessionId: string;
  readonly branchId: string;
  /**
   * Claims the branch for one run and records its start. Until `finishRun` or `release` no other run of the
   * branch begins, in this process or another; one that is active is waited for.
   *
   * @throws SessionLockTimeoutError if another run holds the branch for too long.
   * @throws SessionConflictError if a run was left unfinished, or the head moved since this journal last saw it: the
   * agent has to load the session again.
   */
  beginRun(run: RunOpening): Promise<void>;
  appendAssistant(runId: string, sequence: number, message: AssistantMessage): Promise<void>;
  appendToolMessages(runId: string, sequence: number, messages: readonly ToolMessage[]): Promise<void>;
  applySteering(runId: string, sequence: number, control: ControlInput, targetTurn: number): Promise<void>;
  /** `messages` is the whole history after the cut, without the system prompt. May come outside of a run. */
  applyCompaction(
    sequence: number,
    operationId: string,
    summary: SummaryEntry,
    messages: readonly Message[],
  ): Promise<void>;
  /** Records the end and gives the branch free. */
  finishRun(runId: string, sequence: number, result: AgentRunResult): Promise<void>;
  /** Gives the branch free without a record, after a failure. Idempotent; never rejects. */
  release(): Promise<void>;
}
