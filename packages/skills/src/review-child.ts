import { codeReview } from './code-review/code-review.js';
import { runSkillChild } from './subagents/run-skill-child.js';

/** The program of a child process that reviews code. Loads nothing that it does not need. */
export function runReviewChild(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  return runSkillChild(codeReview, env['AGENT_ID'] ?? 'code_review');
}
