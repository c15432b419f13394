import type { ControlReceipt } from '../control.js';
import type { ContinueRejectedReason, FollowUpDiscardReason } from '../enums.js';
import { HarnessError } from '../errors.js';

/** `continueRun` was refused; `reason` is the first of the reasons that holds. */
export class ContinueRejectedError extends HarnessError {
  override readonly name = 'ContinueRejectedError';

  constructor(readonly reason: ContinueRejectedReason) {
    super('continue_rejected', `the run cannot be continued: ${reason}`);
  }
}

/** The follow-up was not accepted; the receipt says why. */
export class FollowUpRejectedError extends HarnessError {
  override readonly name = 'FollowUpRejectedError';

  constructor(readonly receipt: ControlReceipt) {
    super('follow_up_rejected', `the follow-up was not accepted: ${receipt.status}`);
  }
}

/** The follow-up was accepted and then never ran. */
export class FollowUpDiscardedError extends HarnessError {
  override readonly name = 'FollowUpDiscardedError';

  constructor(readonly reason: FollowUpDiscardReason) {
    super('follow_up_discarded', `the follow-up was discarded: ${reason}`);
  }
}

/** The agent was shut down, so that nothing can be started any more. */
export class AgentShutDownError extends HarnessError {
  override readonly name = 'AgentShutDownError';

  constructor() {
    super('agent_shut_down', 'the agent is shut down');
  }
}

/** What was asked for needs an agent that does nothing at the moment. */
export class AgentActiveError extends HarnessError {
  override readonly name = 'AgentActiveError';

  constructor() {
    super('agent_active', 'the agent is active');
  }
}

/** The history would not be one that a model accepts: a call without its result, or the other way round. */
export class HistoryError extends HarnessError {
  override readonly name = 'HistoryError';

  constructor(message: string) {
    super('history_inconsistent', message);
  }
}

/** The journal could not record something. `cause` is what it threw. */
export class RecordingFailedError extends HarnessError {
  override readonly name = 'RecordingFailedError';

  constructor(message: string, options: { readonly cause: unknown }) {
    super('recording_failed', message, options);
  }
}

/** A behavior hook threw, or decided something that is no decision. */
export class BehaviorHookError extends HarnessError {
  override readonly name = 'BehaviorHookError';

  constructor(message: string, options?: { readonly cause: unknown }) {
    super('behavior_hook_failed', message, options);
  }
}

/** The compaction that a request needed did not succeed. */
export class CompactionFailedError extends HarnessError {
  override readonly name = 'CompactionFailedError';

  constructor(message: string) {
    super('compaction_failed', message);
  }
}
