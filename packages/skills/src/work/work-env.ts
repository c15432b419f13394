import { isModelConfigured } from '@parley/harness';
import { intEnv, readEnv } from '@parley/service-kit';
import { z } from 'zod';

/** The environment that decides how an agent works: by which model, within which bounds, and where that is recorded. */
export const workEnv = z.object({
  OPENAI_API_KEY: z.string().min(1).optional().describe('Key of an OpenAI-compatible model. Never logged.'),
  OPENAI_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Its address, such as http://127.0.0.1:11434/v1. With neither key nor address the offline model works.'),
  OPENAI_MODEL: z.string().min(1).optional().describe('Its name; needed with a key or an address.'),
  AGENT_MAX_STEPS: intEnv(8, { min: 1, max: 100 }).describe('Turns of one piece of work.'),
  AGENT_MAX_RUN_TOKENS: intEnv(200_000, { min: 1_000, max: 10_000_000 }).describe('Tokens of one piece of work.'),
  AGENT_SESSIONS_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of the journals, one per context; unset: nothing is recorded.'),
  AGENT_MAX_SESSIONS: intEnv(1_000, { min: 1, max: 100_000 }).describe('Journals kept; the oldest go first.'),
  AGENT_SUBAGENT_PROVIDER: z
    .enum(['none', 'acp'])
    .default('none')
    .describe('Where `code_review` is done: in the service itself, or in a child process spoken to over ACP.'),
  AGENT_SUBAGENT_MAX_CHILDREN: intEnv(2, { min: 1, max: 64 }).describe(
    'Child processes at the same time; further work waits.',
  ),
  AGENT_SUBAGENT_POOL_SIZE: intEnv(1, { min: 0, max: 16 }).describe(
    'Child processes that are kept warm; 0: a new one each time.',
  ),
  AGENT_SUBAGENT_IDLE_SECONDS: intEnv(60, { min: 1, max: 86_400 }).describe(
    'An unused warm one is ended after so long.',
  ),
  AGENT_SUBAGENT_START_SECONDS: intEnv(15, { min: 1, max: 300 }).describe('Time for a child process to come up.'),
  AGENT_SUBAGENT_DEADLINE_SECONDS: intEnv(60, { min: 1, max: 3_600 }).describe(
    'Time for one piece of work in a child process; it is ended then.',
  ),
});

export type WorkConfig = z.infer<typeof workEnv>;

/** @throws ConfigError naming the variable. */
export function readWorkConfig(env: Readonly<Record<string, string | undefined>>): WorkConfig {
  return readEnv(workEnv, env);
}

/** True if the configuration describes no model. */
export function isOffline({ OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL }: WorkConfig): boolean {
  return !isModelConfigured({ OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL });
}
