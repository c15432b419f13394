import { createAgentService, type AgentConfig, type AgentDefaults, type AgentServiceHandle } from '@parley/agent';
import type { Logger } from '@parley/service-kit';
import { skillsByName } from '@parley/skills';

export const DEFAULTS: AgentDefaults = {
  agentId: 'agent_B',
  name: 'Agent B: translates and reviews code',
  httpPort: 8_002,
  grpcPort: 9_002,
};

/** Agent B translates and reviews code. */
export function createAgentApp(config: AgentConfig, logger: Logger): AgentServiceHandle {
  return createAgentService({ config, logger, skills: skillsByName(['translate', 'code_review']) });
}
