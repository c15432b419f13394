import {
  boolEnv,
  intEnv,
  logFormatEnv,
  logLevelEnv,
  portEnv,
  ratioEnv,
  readEnv,
  redisEnv,
  redisTarget,
  secretEnv,
} from '@parley/service-kit';
import { z } from 'zod';

/** The environment of the registry. Every name carries its unit. */
export const registryEnv = z.object({
  REGISTRY_HOST: z.string().default('0.0.0.0').describe('Address to listen on.'),
  REGISTRY_HTTP_PORT: portEnv(8_000).describe('HTTP port; 0 takes a free one.'),
  REGISTRY_GRPC_PORT: portEnv(9_000).describe('gRPC port; 0 takes a free one.'),
  REGISTRY_LOG_FORMAT: logFormatEnv.describe('json, or text for people.'),
  REGISTRY_LOG_LEVEL: logLevelEnv.describe('debug, info, warn, error or silent.'),
  ...redisEnv('Where the records live; no Redis at all: in memory of this one process.'),
  REGISTRY_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'small letters, digits and "-", at most 63')
    .default('parley')
    .describe('Separates registries that share one Redis.'),
  REGISTRY_MIN_TTL_SECONDS: intEnv(1, { min: 1, max: 86_400 }).describe('Shortest lease granted.'),
  REGISTRY_DEFAULT_TTL_SECONDS: intEnv(30, { min: 1, max: 86_400 }).describe('Lease of agents that wish for none.'),
  REGISTRY_MAX_TTL_SECONDS: intEnv(3_600, { min: 1, max: 86_400 }).describe('Longest lease granted.'),
  REGISTRY_MAX_STALE_SECONDS: intEnv(60, { min: 0, max: 3_600 }).describe(
    'How long reads are answered from memory while the store is away.',
  ),
  REGISTRY_GUARD_SHARE: ratioEnv(0.5).describe(
    'Share of agents that must be due after an outage for the guard to act.',
  ),
  REGISTRY_GUARD_MIN_AGENTS: intEnv(1, { min: 1, max: 1_000_000 }).describe('Fewer due agents than this: no guard.'),
  REGISTRY_JOIN_TOKEN: secretEnv.optional().describe('When set, registering needs it (header Parley-Join-Token).'),
  REGISTRY_OPERATOR_TOKEN: secretEnv.optional().describe('When set, its bearer may remove any agent.'),
  REGISTRY_MAX_WATCHERS: intEnv(1_000, { min: 1, max: 100_000 }).describe('More subscribers than this get 503.'),
  REGISTRY_ALLOW_PRIVATE_TARGETS: boolEnv(true).describe('Whether the broker may call private and loopback addresses.'),
  REGISTRY_BROKER_MAX_CONCURRENT: intEnv(256, { min: 1, max: 10_000 }).describe(
    'Brokered negotiations at the same time.',
  ),
  REGISTRY_DRAIN_DELAY_MS: intEnv(500, { min: 0, max: 30_000 }).describe(
    'Wait between "not ready" and closing, until load balancers have noticed.',
  ),
});

export type RegistryConfig = z.infer<typeof registryEnv>;

/** @throws ConfigError naming every wrong variable. */
export function readRegistryConfig(env: Readonly<Record<string, string | undefined>>): RegistryConfig {
  const config = readEnv(registryEnv, env);
  // Names what contradicts itself now, not when the store is made.
  redisTarget(config);
  return config;
}
