import { DEFAULT_GUARD } from '../domain/guard.js';
import type { RegistrySettings } from './core-types.js';

export const DEFAULT_SETTINGS: RegistrySettings = {
  minTtlMs: 1_000,
  maxTtlMs: 3_600_000,
  defaultTtlMs: 30_000,
  maxStaleMs: 60_000,
  sweepIntervalMs: 1_000,
  renewalBatchMs: 200,
  applyTimeoutMs: 1_000,
  recentEvents: 4_096,
  guard: DEFAULT_GUARD,
};
