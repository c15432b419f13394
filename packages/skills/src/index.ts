export { skillsByName } from './catalogue.js';
export { codeReview, createCodeReview, MAX_REVIEW_BYTES, type CodeReviewOptions } from './code-review/code-review.js';
export type { Finding, Metrics, Severity, SourceLanguage, Verdict } from './code-review/findings.js';
export { defineSkill } from './define-skill.js';
export { MAX_SUMMARY_TEXT_CHARS, summarize } from './summarize/summarize.js';
export { MAX_TRANSLATION_CHARS, MAX_UNTRANSLATED, translate } from './translate/translate.js';
export { createWork, type CreateWorkOptions } from './work/create-work.js';
export { workByHarness, type WorkOptions } from './work/work-by-harness.js';
export { readWorkConfig, workEnv, type WorkConfig } from './work/work-env.js';
