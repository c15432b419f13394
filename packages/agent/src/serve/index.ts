export { agentBindings } from './agent-bindings.js';
export { agentEnv, readAgentConfig, type AgentConfig, type AgentDefaults } from './agent-config.js';
export { agentOperations, type AgentOperations } from './agent-operations.js';
export { agentRoutes } from './agent-routes.js';
export { createAgentService, type AgentServiceHandle, type AgentServiceOptions } from './agent-service.js';
export { serveAgent, type ServeAgentOptions, type ServedAgent } from './serve-agent.js';
export type { TaskExecutorFactory } from './serve-tasks.js';
