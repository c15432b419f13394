export type {
  AutoCompactionPolicy,
  CompactionDecision,
  CompactionPolicy,
  CompactionPreparation,
  CompactionRequest,
  CompactionResult,
  Compactor,
  CompactorOutput,
  ContextBudget,
  ContextUsageEstimate,
} from './compaction-types.js';
export { checkCompactionPolicy, decideCompaction, thresholdTokens } from './compaction-decision.js';
export {
  CompactionRunner,
  type CompactionOperation,
  type CompactionOutcome,
  type CompactionRunnerOptions,
} from './compaction-runner.js';
export { ContextBuilder, type ContextBuilderOptions, type ContextParts } from './context-builder.js';
export { ContextMeter, estimateContextUsage } from './context-meter.js';
export {
  DEFAULT_COMPACTION_PROMPT,
  EXPLICIT_FINISH_TEXT,
  explicitFinishReminder,
  TOOL_PROTOCOL_TEXT,
} from './context-texts.js';
export { ModelCompactor, type ModelCompactorOptions, SummaryFailedError } from './model-compactor.js';
export { prepareCompaction, type PrepareCompactionOptions } from './prepare-compaction.js';
export { isSummary, summaryMessage } from './summary-message.js';
export { HeuristicMessageTokenEstimator, type MessageTokenEstimator } from './token-estimator.js';
