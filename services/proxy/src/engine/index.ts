export { createProxyEngine } from './create-proxy-engine.js';
export type { ActionAnswer, ProxyEngine, TaskView, TurnView } from './engine-types.js';
