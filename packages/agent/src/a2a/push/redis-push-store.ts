import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { resolveUserScope, type ServerCallContext, type StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import { storeUnavailable } from '@parley/service-kit';
import type { Redis } from 'ioredis';
import { agentHashTag } from '../../agreements/redis-keys.js';
import { redisScript, runScript } from '../../agreements/redis-script.js';
import { hashed, scopeOf } from '../stores/scope.js';
import {
  DEFAULT_KEEP_MS,
  DEFAULT_MAX_PER_TASK,
  tooManyConfigs,
  toStored,
  type AgentPushStore,
  type PushStoreOptions,
} from './push-store.js';

export interface RedisPushStoreOptions extends PushStoreOptions {
  /** Made by `connectRedis` of service-kit; ended by whoever made it. */
  readonly redis: Redis;
  /** Its keys begin with `{parley-agent:<agentId>}:task-push:`. */
  readonly agentId: string;
}

/**
 * Push configurations that every replica of the agent sees. Whoever reads this Redis can read the tokens and
 * credentials in them.
 */
export function createRedisPushStore(options: RedisPushStoreOptions): AgentPushStore {
  return new RedisPushStore(options);
}

interface StoredDoc {
  readonly config: unknown;
  readonly wireVersion: string;
  /** When it was first set, for the order. */
  readonly at: number;
  /** Not read from then on. */
  readonly until: number;
}

/**
 * KEYS configurations of a task
 * ARGV 1 id, 2 doc, 3 how many at most, 4 how long they are kept (ms)
 * Answers 1, or 0 when there are too many.
 */
const SAVE_CONFIG = redisScript(`
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`);

class RedisPushStore implements AgentPushStore {
  readonly #options: RedisPushStoreOptions;

  constructor(options: RedisPushStoreOptions) {
    this.#options = options;
  }

  async save(taskId: string, context: ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    const { redis, rules, maxPerTask = DEFAULT_MAX_PER_TASK, keepMs = DEFAULT_KEEP_MS } = this.#options;
    const stored = toStored(taskId, context, config, rules);
    const at = this.#now();
    const doc: StoredDoc = {
      config: TaskPushNotificationConfig.toJSON(stored.config),
      wireVersion: stored.wireVersion,
      at,
      until: at + keepMs,
    };
    const args = [config.id, JSON.stringify(doc), maxPerTask, keepMs];
    const done = await reached(() => runScript(redis, SAVE_CONFIG, [this.#keyOf(taskId, context)], args));
    if (done === 0) throw tooManyConfigs(maxPerTask);
  }

  async load(taskId: string, context: ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.loadWithMetadata(taskId, context)).map(({ config }) => config);
  }

  loadWithMetadata(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    return reached(async () => {
      const docs = await this.#options.redis.hvals(this.#keyOf(taskId, context));
      return docs
        .map((doc) => JSON.parse(doc) as StoredDoc)
        .filter(({ until }) => until > this.#now())
        .sort((a, b) => a.at - b.at)
        .map(({ config, wireVersion }) => ({ config: TaskPushNotificationConfig.fromJSON(config), wireVersion }));
    });
  }

  delete(taskId: string, context: ServerCallContext, configId: string = taskId): Promise<void> {
    return reached(async () => {
      await this.#options.redis.hdel(this.#keyOf(taskId, context), configId);
    });
  }

  #keyOf(taskId: string, context: ServerCallContext): string {
    const { agentId, ownerResolver = resolveUserScope } = this.#options;
    return `{${agentHashTag(agentId)}}:task-push:${hashed(scopeOf(context, ownerResolver))}:${taskId}`;
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeUnavailable(error);
  }
}
