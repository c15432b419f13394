import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { resolveUserScope, type ServerCallContext, type StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import { scopeOf } from '../stores/scope.js';
import {
  copyConfig,
  DEFAULT_KEEP_MS,
  DEFAULT_MAX_PER_TASK,
  tooManyConfigs,
  toStored,
  type AgentPushStore,
  type PushStoreOptions,
} from './push-store.js';

export interface MemoryPushStoreOptions extends PushStoreOptions {
  /** Tasks with configurations at once; those that were set longest ago are forgotten first. Default 10,000. */
  readonly maxTasks?: number;
}

/** Push configurations of one process; gone with it. */
export function createMemoryPushStore(options: MemoryPushStoreOptions = {}): AgentPushStore {
  return new MemoryPushStore(options);
}

interface TaskEntry {
  /** By id, oldest first. */
  readonly configs: Map<string, StoredPushNotificationConfig>;
  forgetAt: number;
}

class MemoryPushStore implements AgentPushStore {
  readonly #options: MemoryPushStoreOptions;
  /** In the order of the last write. */
  readonly #tasks = new Map<string, TaskEntry>();

  constructor(options: MemoryPushStoreOptions) {
    this.#options = options;
  }

  save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    return new Promise((resolve) => {
      this.#save(taskId, context, config);
      resolve();
    });
  }

  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.loadWithMetadata(taskId, context)).map(({ config }) => config);
  }

  loadWithMetadata(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    this.#forgetPast();
    const stored = [...(this.#tasks.get(this.#keyOf(taskId, context))?.configs.values() ?? [])];
    return Promise.resolve(stored.map(({ config, wireVersion }) => ({ config: copyConfig(config), wireVersion })));
  }

  delete(taskId: string, context: ServerCallContext, configId: string = taskId): Promise<void> {
    const key = this.#keyOf(taskId, context);
    const configs = this.#tasks.get(key)?.configs;
    configs?.delete(configId);
    if (configs?.size === 0) this.#tasks.delete(key);
    return Promise.resolve();
  }

  #save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): void {
    const { rules, maxPerTask = DEFAULT_MAX_PER_TASK, maxTasks = 10_000, keepMs = DEFAULT_KEEP_MS } = this.#options;
    this.#forgetPast();
    const key = this.#keyOf(taskId, context);
    const stored = toStored(taskId, context, config, rules);
    const configs = this.#tasks.get(key)?.configs ?? new Map<string, StoredPushNotificationConfig>();
    if (!configs.has(config.id) && configs.size >= maxPerTask) throw tooManyConfigs(maxPerTask);
    configs.delete(config.id);
    configs.set(config.id, stored);
    this.#tasks.delete(key);
    this.#tasks.set(key, { configs, forgetAt: this.#now() + keepMs });
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > maxTasks && oldest !== undefined) this.#tasks.delete(oldest);
  }

  #forgetPast(): void {
    const now = this.#now();
    for (const [key, { forgetAt }] of this.#tasks) {
      if (forgetAt > now) break;
      this.#tasks.delete(key);
    }
  }

  #keyOf(taskId: string, context: ServerCallContext): string {
    return `${scopeOf(context, this.#options.ownerResolver ?? resolveUserScope)}\0${taskId}`;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
