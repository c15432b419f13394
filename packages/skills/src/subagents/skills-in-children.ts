import { AcpSubagentProvider } from '@parley/acp';
import type { Skill } from '@parley/agent';
import type { HarnessLogger } from '@parley/harness';
import { reviewOutput } from '../code-review/review-output.js';
import type { WorkConfig } from '../work/work-env.js';
import { ChildSlots } from './child-slots.js';
import { childEnvironment, forwardedNames } from './child-environment.js';
import { CHILD_FLUSH_MS } from './run-skill-child.js';
import { SkillInChild } from './skill-in-child.js';

/** The largest sources need 96; a source that needs more ends its process, not the service. */
const MEMORY = ['--max-old-space-size=128', '--max-semi-space-size=8'];
/** A child that does not go by itself after its last spans is in the middle of a review, which nobody waits for. */
const CLOSE_MS = CHILD_FLUSH_MS + 500;
const TERM_MS = 500;
const CANCEL_GRACE_MS = 300;

export interface SkillsInChildrenOptions {
  readonly agentId: string;
  readonly config: WorkConfig;
  readonly logger: HarnessLogger;
  /** The program that serves the skill: a file for Node, see `runSkillChild`. */
  readonly program: string;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Puts `code_review` into child processes where the configuration says so: reviewing holds the event loop, and what is
 * reviewed was written by others. All other skills stay as they are.
 */
export function skillsInChildren(skills: readonly Skill[], options: SkillsInChildrenOptions): Skill[] {
  const { agentId, config, logger } = options;
  if (config.AGENT_SUBAGENT_PROVIDER === 'none') return [...skills];
  return skills.map((skill) => {
    if (skill.capability !== 'code_review') return skill;
    const provider = providerFor(options);
    return new SkillInChild(skill, {
      provider,
      agentId,
      slots: new ChildSlots({ max: config.AGENT_SUBAGENT_MAX_CHILDREN }),
      output: reviewOutput,
      keepsChildren: config.AGENT_SUBAGENT_POOL_SIZE > 0,
      trial: { source: '' },
      close: () => provider.close(),
      logger,
    }).skill;
  });
}

function providerFor({ agentId, config, logger, program, env = process.env }: SkillsInChildrenOptions) {
  const startMs = config.AGENT_SUBAGENT_START_SECONDS * 1_000;
  const promptMs = config.AGENT_SUBAGENT_DEADLINE_SECONDS * 1_000;
  const size = config.AGENT_SUBAGENT_POOL_SIZE;
  return new AcpSubagentProvider({
    command: process.execPath,
    args: [...MEMORY, program],
    cwd: process.cwd(),
    env: childEnvironment(agentId, env),
    forwardEnv: forwardedNames(env),
    parentEnv: env,
    permission: 'reject',
    deadlines: {
      initializeMs: startMs,
      newSessionMs: startMs,
      idleMs: promptMs,
      promptMs,
      cancelGraceMs: CANCEL_GRACE_MS,
      closeMs: CLOSE_MS,
      termMs: TERM_MS,
    },
    ...(size === 0 ? {} : { pool: { size, idleMs: config.AGENT_SUBAGENT_IDLE_SECONDS * 1_000 } }),
    logger,
  });
}
