import { randomUUID } from 'node:crypto';
import { redisTarget, type Logger } from '@parley/service-kit';
import type { RegistryConfig } from '../config.js';
import { DEFAULT_GUARD, type GuardSettings } from '../domain/guard.js';
import { MemoryStore } from './memory/memory-store.js';
import { RedisStore } from './redis/redis-store.js';
import type { RegistryStore } from './store.js';

export function guardSettings(config: RegistryConfig): GuardSettings {
  return { ...DEFAULT_GUARD, share: config.REGISTRY_GUARD_SHARE, minAgents: config.REGISTRY_GUARD_MIN_AGENTS };
}

/** Redis when the environment says where one is, else the memory of this process. */
export function createStore(config: RegistryConfig, logger: Logger): RegistryStore {
  const guard = guardSettings(config);
  const redis = redisTarget(config);
  if (redis === undefined) return new MemoryStore({ epoch: randomUUID(), guard });
  return new RedisStore({ redis, namespace: config.REGISTRY_NAMESPACE, logger, guard });
}
