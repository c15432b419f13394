export { createProxyEngine } from './create-proxy-engine.js';
export { DEFAULT_LIMITS, type EngineLimits, type ProxyEngineDeps } from './engine-options.js';
export type { ActionAnswer, ProxyEngine, SubmitMessage, TaskView, TurnView } from './engine-types.js';
