export { skillsByName } from './catalogue.js';
export { codeReview, createCodeReview, MAX_REVIEW_BYTES, type CodeReviewOptions } from './code-review/code-review.js';
export type { Finding, Metrics, Severity, SourceLanguage, Verdict } from './code-review/findings.js';
export { defineSkill } from './define-skill.js';
export { MAX_SUMMARY_TEXT_CHARS, summarize } from './summarize/summarize.js';
export { MAX_TRANSLATION_CHARS, MAX_UNTRANSLATED, translate } from './translate/translate.js';
