export { createMemoryPushStore, type MemoryPushStoreOptions } from './memory-push-store.js';
export { createPushSender, type PushSender, type PushSenderOptions } from './push-sender.js';
export { type AgentPushStore, type PushStoreOptions } from './push-store.js';
export { checkPushConfig, type PushTargetRules } from './push-target.js';
export { createRedisPushStore, type RedisPushStoreOptions } from './redis-push-store.js';
