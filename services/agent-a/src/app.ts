import { createAgentService, type AgentConfig, type AgentDefaults, type AgentServiceHandle } from '@parley/agent';
import type { Logger } from '@parley/service-kit';
import { skillsByName } from '@parley/skills';

export const DEFAULTS: AgentDefaults = {
  agentId: 'agent_A',
  name: 'Agent A: translates and summarizes',
  httpPort: 8_001,
  grpcPort: 9_001,
};

/** Agent A translates and summarizes. */
export function createAgentApp(config: AgentConfig, logger: Logger): AgentServiceHandle {
  return createAgentService({ config, logger, skills: skillsByName(['translate', 'summarize']) });
}
