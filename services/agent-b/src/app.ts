import { createAgentService, type AgentConfig, type AgentDefaults, type AgentServiceHandle } from '@parley/agent';
import type { Logger } from '@parley/service-kit';
import { fileURLToPath } from 'node:url';
import { createAgentTasks, isOffline, skillsByName, skillsInChildren, type WorkConfig } from '@parley/skills';

export const DEFAULTS: AgentDefaults = {
  agentId: 'agent_B',
  name: 'Agent B: translates and reviews code',
  httpPort: 8_002,
  grpcPort: 9_002,
};

/** Agent B translates and reviews code. */
export function createAgentApp(config: AgentConfig, work: WorkConfig, logger: Logger): AgentServiceHandle {
  const skills = skillsInChildren(skillsByName(['translate', 'code_review']), {
    agentId: config.AGENT_ID,
    config: work,
    logger,
    program: fileURLToPath(new URL('./review-child.js', import.meta.url)),
  });
  return createAgentService({
    config,
    logger,
    skills,
    tasks: (deps) => createAgentTasks(skills, { agentId: config.AGENT_ID, config: work, logger, ...deps }),
    offline: isOffline(work),
  });
}
