import { readAgentConfig } from '@parley/agent';
import { createLogger, runService } from '@parley/service-kit';
import { readWorkConfig } from '@parley/skills';
import { createAgentApp, DEFAULTS } from './app.js';

runService(DEFAULTS.agentId, () => {
  const config = readAgentConfig(DEFAULTS, process.env);
  const work = readWorkConfig(process.env);
  const logger = createLogger({
    service: config.AGENT_ID,
    format: config.AGENT_LOG_FORMAT,
    level: config.AGENT_LOG_LEVEL,
  });
  return createAgentApp(config, work, logger);
});
