export { Agent } from './agent.js';
export {
  DEFAULT_AGENT_SETTINGS,
  type AgentDiscoverOptions,
  type AgentEvents,
  type AgentIdentity,
  type AgentOptions,
  type AgentSettings,
  type AnySkill,
  type DirectNegotiateOptions,
  type NegotiateAnyOptions,
  type NegotiateThroughOptions,
  type RegisterAgentOptions,
} from './agent-options.js';
export type { InvokeCaller } from './call-runner.js';
