import { createLogger, runService } from '@parley/service-kit';
import { createRegistryService } from './app.js';
import { readRegistryConfig } from './config.js';

runService('registry', () => {
  const config = readRegistryConfig(process.env);
  const logger = createLogger({
    service: 'registry',
    format: config.REGISTRY_LOG_FORMAT,
    level: config.REGISTRY_LOG_LEVEL,
  });
  return createRegistryService({ config, logger });
});
