// An agent as a process, with one skill that does nothing for as long as it is asked to.
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgentService, readAgentConfig } from '@parley/agent';
import { createLogger, runService } from '@parley/service-kit';
import { z } from 'zod';

const wait = {
  capability: 'wait',
  detail: { version: '1.0.0', description: 'Waits.' },
  input: z.strictObject({ ms: z.int().min(0).max(60_000) }),
  run: async ({ ms }, { signal }) => {
    await sleep(ms, undefined, { signal });
    return { waited_ms: ms };
  },
};

runService('agent_W', () => {
  const config = readAgentConfig({ agentId: 'agent_W', name: 'Waits', httpPort: 0, grpcPort: 0 }, process.env);
  const logger = createLogger({
    service: config.AGENT_ID,
    format: config.AGENT_LOG_FORMAT,
    level: config.AGENT_LOG_LEVEL,
  });
  return createAgentService({ config, logger, skills: [wait] });
});
