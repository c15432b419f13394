import { z } from 'zod';
import { boolEnv, invalidEnv } from '../config/env.js';
import { parseAddress, type RedisTarget, type ServerAddress } from './redis-target.js';

const addresses = z
  .string()
  .transform((text, context): readonly ServerAddress[] => {
    const parsed = text.split(',').map((part) => parseAddress(part.trim()));
    if (parsed.every((address) => address !== undefined)) return parsed;
    context.addIssue({ code: 'custom', message: 'must be host:port, comma-separated' });
    return z.NEVER;
  })
  .optional();

/** The variables that say where Redis is. `use` is what it is for, as a sentence. */
export function redisEnv(use: string) {
  return {
    REDIS_URL: z
      .string()
      .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
      .optional()
      .describe(use),
    REDIS_SENTINELS: addresses.describe('In place of REDIS_URL: sentinels, host:port, comma-separated.'),
    REDIS_MASTER_NAME: z
      .string()
      .regex(/^[\w.-]{1,128}$/, 'must be letters, digits, ".", "_" and "-"')
      .optional()
      .describe('The name under which the sentinels know the master; needed with them.'),
    REDIS_SENTINEL_PASSWORD: z.string().optional().describe('Password of the sentinels, if they have one.'),
    REDIS_CLUSTER_NODES: addresses.describe(
      'In place of REDIS_URL: some nodes of a Redis Cluster, host:port, comma-separated.',
    ),
    REDIS_USERNAME: z.string().optional().describe('User of Redis (ACL); needs the password.'),
    REDIS_PASSWORD: z.string().optional().describe('Password of Redis, where REDIS_URL has none. Never logged.'),
    REDIS_TLS: boolEnv(false).describe('TLS to sentinels and cluster nodes; with REDIS_URL write rediss://.'),
  };
}

export type RedisEnv = z.infer<z.ZodObject<ReturnType<typeof redisEnv>>>;

/**
 * Where Redis is; undefined: none is to be used.
 * @throws ConfigError naming variables that contradict each other or go without the one they need.
 */
export function redisTarget(env: RedisEnv): RedisTarget | undefined {
  const faults = contradictions(env);
  if (faults.length > 0) throw invalidEnv(faults);
  const { REDIS_USERNAME: username, REDIS_PASSWORD: password, REDIS_TLS: tls } = env;
  const credentials = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
  if (env.REDIS_URL !== undefined) return { url: env.REDIS_URL, ...credentials };
  if (env.REDIS_CLUSTER_NODES !== undefined) return { clusterNodes: env.REDIS_CLUSTER_NODES, tls, ...credentials };
  if (env.REDIS_SENTINELS === undefined || env.REDIS_MASTER_NAME === undefined) return undefined;
  const sentinelPassword = env.REDIS_SENTINEL_PASSWORD;
  return {
    sentinels: env.REDIS_SENTINELS,
    masterName: env.REDIS_MASTER_NAME,
    tls,
    ...credentials,
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
  };
}

const PLACES = ['REDIS_URL', 'REDIS_SENTINELS', 'REDIS_CLUSTER_NODES'] as const;

function contradictions(env: RedisEnv): string[] {
  const given = PLACES.filter((name) => env[name] !== undefined);
  const url = env.REDIS_URL;
  const faults: [boolean, string][] = [
    [given.length > 1, `${given.join(', ')}: only one of them can be set`],
    [
      env.REDIS_SENTINELS !== undefined && env.REDIS_MASTER_NAME === undefined,
      'REDIS_MASTER_NAME: needed with REDIS_SENTINELS',
    ],
    ...(['REDIS_MASTER_NAME', 'REDIS_SENTINEL_PASSWORD'] as const).map((name): [boolean, string] => [
      env[name] !== undefined && env.REDIS_SENTINELS === undefined,
      `${name}: only with REDIS_SENTINELS`,
    ]),
    ...(['REDIS_USERNAME', 'REDIS_PASSWORD'] as const).map((name): [boolean, string] => [
      env[name] !== undefined && given.length === 0,
      `${name}: only with ${PLACES.join(', ')}`,
    ]),
    [env.REDIS_USERNAME !== undefined && env.REDIS_PASSWORD === undefined, 'REDIS_USERNAME: needs REDIS_PASSWORD'],
    [
      env.REDIS_PASSWORD !== undefined && url !== undefined && hasCredentials(url),
      'REDIS_URL, REDIS_PASSWORD: only one of them can hold the password',
    ],
    [
      env.REDIS_TLS && url?.startsWith('redis://') === true,
      'REDIS_URL, REDIS_TLS: with TLS the address begins with rediss://',
    ],
    [env.REDIS_TLS && given.length === 0, `REDIS_TLS: only with ${PLACES.join(', ')}`],
  ];
  return faults.filter(([wrong]) => wrong).map(([, fault]) => fault);
}

function hasCredentials(url: string): boolean {
  return /^rediss?:\/\/[^/?#]*@/.test(url);
}
