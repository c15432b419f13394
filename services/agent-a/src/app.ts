import { createAgentService, type AgentConfig, type AgentDefaults, type AgentServiceHandle } from '@parley/agent';
import type { Logger } from '@parley/service-kit';
import { createAgentTasks, isOffline, skillsByName, type WorkConfig } from '@parley/skills';

export const DEFAULTS: AgentDefaults = {
  agentId: 'agent_A',
  name: 'Agent A: translates and summarizes',
  httpPort: 8_001,
  grpcPort: 9_001,
};

/** Agent A translates and summarizes. */
export function createAgentApp(config: AgentConfig, work: WorkConfig, logger: Logger): AgentServiceHandle {
  const skills = skillsByName(['translate', 'summarize']);
  return createAgentService({
    config,
    logger,
    skills,
    tasks: (deps) => createAgentTasks(skills, { agentId: config.AGENT_ID, config: work, logger, ...deps }),
    offline: isOffline(work),
  });
}
