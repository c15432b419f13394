import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Skill } from '@parley/agent';
import type { HarnessLogger } from '@parley/harness';
import { codeReview } from '../code-review/code-review.js';
import { readWorkConfig } from '../work/work-env.js';
import { skillsInChildren, type SkillsInChildrenOptions } from './skills-in-children.js';

const packageFolder = dirname(dirname(import.meta.dirname));

/** Programs for children: plain modules, which use the compiled package. */
export const childPrograms = {
  review: join(import.meta.dirname, 'testing', 'review-child.mjs'),
  odd: join(import.meta.dirname, 'testing', 'odd-child.mjs'),
};

/** Compiles what has changed since the package was compiled last. */
export async function compileSkills(): Promise<void> {
  const tsc = join(packageFolder, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [tsc, '-b', packageFolder], { timeout: 240_000 });
}

/** What the children of a test leave in the log. */
export class WarningLog implements HarnessLogger {
  readonly warnings: { readonly message: string; readonly details: unknown }[] = [];

  warn(message: string, details?: Readonly<Record<string, unknown>>): void {
    this.warnings.push({ message, details });
  }
}

/** code_review as agent-b does it with `AGENT_SUBAGENT_PROVIDER=acp`. */
export function reviewInChild(
  env: Readonly<Record<string, string>> = {},
  options: Partial<SkillsInChildrenOptions> = {},
): Skill {
  const config = readWorkConfig({ AGENT_SUBAGENT_PROVIDER: 'acp', ...env });
  const [skill] = skillsInChildren([codeReview], {
    agentId: 'agent_T',
    config,
    logger: new WarningLog(),
    program: childPrograms.review,
    ...options,
  });
  if (skill === undefined) throw new Error('there is no skill');
  return skill;
}
