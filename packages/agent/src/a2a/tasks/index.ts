export { createTaskEngine, type TaskEngine, type TaskEngineOptions, type TaskLimits } from './task-engine.js';
export { taskExecutorAdapter, type TaskExecutorAdapterOptions } from './task-executor-adapter.js';
