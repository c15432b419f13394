import { createAgentService, type AgentConfig, type AgentDefaults, type AgentServiceHandle } from '@parley/agent';
import type { Logger } from '@parley/service-kit';
import { createWork, skillsByName, type WorkConfig } from '@parley/skills';

export const DEFAULTS: AgentDefaults = {
  agentId: 'agent_A',
  name: 'Agent A: translates and summarizes',
  httpPort: 8_001,
  grpcPort: 9_001,
};

/** Agent A translates and summarizes. */
export function createAgentApp(config: AgentConfig, work: WorkConfig, logger: Logger): AgentServiceHandle {
  const skills = createWork(skillsByName(['translate', 'summarize']), {
    agentId: config.AGENT_ID,
    config: work,
    logger,
  });
  return createAgentService({ config, logger, skills });
}
