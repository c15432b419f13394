import {
  boolEnv,
  intEnv,
  logFormatEnv,
  logLevelEnv,
  portEnv,
  readEnv,
  redisEnv,
  redisTarget,
  secretEnv,
} from '@parley/service-kit';
import { z } from 'zod';
import { agentId } from '../wire/identifiers.js';

/** What differs between two agents that are otherwise configured alike. */
export interface AgentDefaults {
  readonly agentId: string;
  readonly name: string;
  readonly httpPort: number;
  readonly grpcPort: number;
}

/** The environment of an agent service. Every name carries its unit. */
export function agentEnv(defaults: AgentDefaults) {
  return z.object({
    AGENT_ID: agentId.default(defaults.agentId).describe('Unique among living agents.'),
    AGENT_NAME: z.string().max(200).default(defaults.name).describe('For people.'),
    AGENT_HOST: z.string().default('0.0.0.0').describe('Address to listen on.'),
    AGENT_HTTP_PORT: portEnv(defaults.httpPort).describe('HTTP port; 0 takes a free one.'),
    AGENT_GRPC_PORT: portEnv(defaults.grpcPort).describe('gRPC port; 0 takes a free one.'),
    AGENT_PUBLIC_URL: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('How others reach the HTTP port; default http://127.0.0.1 with the port.'),
    AGENT_PUBLIC_GRPC: z
      .string()
      .optional()
      .describe('host:port under which others reach the gRPC port; listed when given.'),
    AGENT_REGISTRY_URL: z
      .string()
      .default('http://127.0.0.1:8000')
      .describe('One registry, or several comma-separated for fail-over.'),
    AGENT_LABELS: z
      .string()
      .regex(/^(?:[\w./-]{1,64}=[^,]{0,256})(?:,[\w./-]{1,64}=[^,]{0,256})*$/, 'must be key=value, comma-separated')
      .optional()
      .describe('key=value, comma-separated.'),
    AGENT_TTL_SECONDS: intEnv(30, { min: 1, max: 3_600 }).describe('Lease to ask for.'),
    AGENT_OWNER_TOKEN: secretEnv.optional().describe('Owner token: with it a crashed agent replaces itself at once.'),
    AGENT_JOIN_TOKEN: secretEnv.optional().describe('Join token of the registry, when it wants one.'),
    AGENT_OPERATOR_TOKEN: secretEnv.optional().describe('When set, listing agreements and delegating need it.'),
    AGENT_MAX_AGREEMENTS: intEnv(64, { min: 1, max: 100_000 }).describe('Agreements at the same time, as responder.'),
    AGENT_AGREEMENT_TTL_SECONDS: intEnv(60, { min: 5, max: 3_600 }).describe(
      'Lease of an agreement when nothing else is wished.',
    ),
    AGENT_MAX_CONCURRENT_CALLS: intEnv(8, { min: 1, max: 1_000 }).describe('Pieces of work at the same time.'),
    AGENT_A2A_COMPAT: boolEnv(true).describe('Whether A2A 0.3 is served beside 1.0.'),
    AGENT_REQUIRE_AGREEMENT: boolEnv(false).describe('Whether A2A tasks without an agreement are refused.'),
    AGENT_TASK_DEADLINE_SECONDS: intEnv(600, { min: 1, max: 86_400 }).describe(
      'One turn of an A2A task, waiting included.',
    ),
    AGENT_MAX_RUNNING_TASKS: intEnv(64, { min: 1, max: 10_000 }).describe('A2A tasks worked on at the same time.'),
    AGENT_ALLOW_PRIVATE_TARGETS: boolEnv(true).describe('Whether private and loopback addresses may be called.'),
    AGENT_LOG_FORMAT: logFormatEnv.describe('json, or text for people.'),
    AGENT_LOG_LEVEL: logLevelEnv.describe('debug, info, warn, error or silent.'),
    AGENT_DRAIN_DELAY_MS: intEnv(500, { min: 0, max: 30_000 }).describe('Wait between deregistering and closing.'),
    ...redisEnv('Where agreements and tasks live; no Redis at all: in memory of this one process.'),
  });
}

export type AgentConfig = z.infer<ReturnType<typeof agentEnv>>;

/** @throws ConfigError naming every wrong variable. */
export function readAgentConfig(
  defaults: AgentDefaults,
  env: Readonly<Record<string, string | undefined>>,
): AgentConfig {
  const config = readEnv(agentEnv(defaults), env);
  // Names what contradicts itself now, not when the store is made.
  redisTarget(config);
  return config;
}
