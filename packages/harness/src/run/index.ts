export { AgentCancelledError } from './cancellation.js';
export {
  AgentActiveError,
  AgentShutDownError,
  BehaviorHookError,
  ContinueRejectedError,
  FollowUpDiscardedError,
  FollowUpRejectedError,
  HistoryError,
} from './run-errors.js';
