import { randomUUID } from 'node:crypto';
import type { Logger } from '@parley/service-kit';
import type { RegistryConfig } from '../config.js';
import { DEFAULT_GUARD, type GuardSettings } from '../domain/guard.js';
import { MemoryStore } from './memory/memory-store.js';
import { RedisStore } from './redis/redis-store.js';
import type { RegistryStore } from './store.js';

export function guardSettings(config: RegistryConfig): GuardSettings {
  return { ...DEFAULT_GUARD, share: config.REGISTRY_GUARD_SHARE, minAgents: config.REGISTRY_GUARD_MIN_AGENTS };
}

/** Redis when `REDIS_URL` is set, else the memory of this process. */
export function createStore(config: RegistryConfig, logger: Logger): RegistryStore {
  const guard = guardSettings(config);
  if (config.REDIS_URL === undefined) return new MemoryStore({ epoch: randomUUID(), guard });
  return new RedisStore({ url: config.REDIS_URL, namespace: config.REGISTRY_NAMESPACE, logger, guard });
}
