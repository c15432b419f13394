export { agentConfigRoutes } from './config/agent-config-routes.js';
export { mcpConfigRoutes } from './config/mcp-config-routes.js';
export { createHttpApp, type OwnRoute } from './create-http-app.js';
export { createProxyServer } from './create-proxy-server.js';
export { driverRoutes } from './driver/driver-routes.js';
export { skillRoutes } from './skills/skill-routes.js';
export { trajectoryRoutes } from './trajectory/trajectory-routes.js';
export { createObjectStore, type ObjectStore } from './transfers/index.js';
