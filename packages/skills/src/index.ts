export { skillsByName } from './catalogue.js';
export { codeReview, createCodeReview, MAX_REVIEW_BYTES, type CodeReviewOptions } from './code-review/code-review.js';
export type { Finding, Metrics, Severity, SourceLanguage, Verdict } from './code-review/findings.js';
export { defineSkill } from './define-skill.js';
export { MAX_SUMMARY_TEXT_CHARS, summarize } from './summarize/summarize.js';
export { MAX_TRANSLATION_CHARS, MAX_UNTRANSLATED, translate } from './translate/translate.js';
export {
  createAgentTasks,
  createWork,
  type CreateAgentTasksOptions,
  type CreateWorkOptions,
} from './work/create-work.js';
export type { WorkOptions } from './work/harness-run.js';
export { OfflineAgentModel } from './work/offline/offline-agent-model.js';
export { createTaskExecutor } from './work/tasks/create-task-executor.js';
export type { TaskExecutorOptions } from './work/tasks/turn.js';
export { workByHarness } from './work/work-by-harness.js';
export { isOffline, readWorkConfig, workEnv, type WorkConfig } from './work/work-env.js';
