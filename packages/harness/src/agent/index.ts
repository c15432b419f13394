export type { AgentApi, FollowUpHandle } from './agent-api.js';
export type {
  AgentOptions,
  BehaviorDecision,
  BehaviorHook,
  ContextOptions,
  RunOptions,
  RuntimePolicy,
  TurnSnapshot,
} from './agent-options.js';
export { Agent } from './agent.js';
