export { type AgentTaskStore, type TaskStoreBounds } from './agent-task-store.js';
export { createMemoryTaskStore, type MemoryTaskStoreOptions } from './memory-task-store.js';
export { createRedisTaskStore, type RedisTaskStoreOptions } from './redis-task-store.js';
