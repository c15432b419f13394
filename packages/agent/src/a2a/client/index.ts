export {
  isResting,
  isTerminal,
  type A2aAnswer,
  type A2aBinding,
  type A2aCallOptions,
  type A2aConnection,
  type A2aListFilter,
  type A2aMessage,
  type A2aMetadata,
  type A2aSendOptions,
  type A2aTask,
  type A2aTaskPage,
  type A2aTaskState,
  type A2aUpdate,
} from './a2a-connection.js';
export { connectA2a, type ConnectA2aOptions } from './connect-a2a.js';
export { DEFAULT_A2A_TIMEOUTS, type A2aTimeouts } from './sdk-connection.js';
export type { GuardedFetchOptions } from './guarded-fetch.js';
