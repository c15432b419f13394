export { A2aSender, type SendOptions, type SentTask } from './a2a-sender.js';
export {
  A2aRefused,
  ProxyError,
  ProxyFailed,
  ProxyMisread,
  ProxyRefused,
  ProxyUnauthorized,
  ProxyUnreachable,
  TurnGone,
} from './client-errors.js';
export { ProxyClient, type ProxyClientOptions } from './proxy-client.js';
export { type ProxyHttpOptions } from './proxy-http.js';
export {
  type ActionOutput,
  type ActionState,
  type ConfiguredServer,
  type KnownAction,
  type PendingCall,
  type ProxyAction,
  type ProxyActionResult,
  type ProxyBashResult,
  type ProxySkill,
  type ProxyTool,
  type ProxyToolResult,
  type ProxyTurn,
  type ProxyTurns,
  type RecordedCall,
  type TrajectoryOf,
  type TrajectoryPage,
} from './wire-types.js';
