import { createLogger, runService } from '@parley/service-kit';
import { createProxyApp } from './app.js';
import { readProxyConfig } from './config.js';
import { createMember, memberSettings } from './member/index.js';

runService('proxy', () => {
  const config = readProxyConfig(process.env);
  const logger = createLogger({ service: 'proxy', format: config.PROXY_LOG_FORMAT, level: config.PROXY_LOG_LEVEL });
  return createProxyApp(config, logger, {
    extend: (parts) => createMember({ ...memberSettings(config), ...parts, logger }),
  });
});
