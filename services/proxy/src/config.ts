import { agentId } from '@parley/agent';
import { intEnv, logFormatEnv, logLevelEnv, portEnv, readEnv, secretEnv } from '@parley/service-kit';
import { z } from 'zod';

const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).default('on');

const GIB = 1024 ** 3;

/** The environment of the proxy. Every name carries its unit; what a variable of A2A says, one of the proxy overrides. */
export const proxyEnv = z.object({
  A2A_HOST: z.string().default('0.0.0.0').describe('Address to listen on.'),
  A2A_PORT: portEnv(8_000).describe('HTTP port; 0 takes a free one.'),
  PROXY_HOST: z.string().optional().describe('Address to listen on, above A2A_HOST.'),
  PROXY_HTTP_PORT: intEnv(-1, { min: -1, max: 65_535 }).describe('HTTP port, above A2A_PORT; -1: that one.'),
  PROXY_LOG_FORMAT: logFormatEnv.describe('json, or text for people.'),
  PROXY_LOG_LEVEL: logLevelEnv.describe('debug, info, warn, error or silent.'),
  PROXY_STATE_DIR: z
    .string()
    .optional()
    .describe('Folder of the journal, which outlives the process; unset: all is in memory.'),
  PROXY_WORK_DIR: z.string().optional().describe('Where commands run; unset: where the proxy was started.'),
  PROXY_SHELL: onOff.describe('off: no commands and no skills, only the tools of env servers.'),
  PROXY_CONTROL_TOKEN: secretEnv
    .optional()
    .describe('When set, configuration and trajectories need it (Authorization: Bearer).'),
  PROXY_LONG_POLL_SECONDS: intEnv(25, { min: 1, max: 55 }).describe(
    'How long next, act and result wait; drivers give up after 60.',
  ),
  PROXY_MAX_OPEN_TURNS: intEnv(256, { min: 1, max: 100_000 }).describe('Open turns; further messages wait.'),
  PROXY_MAX_ACTIONS_PER_TURN: intEnv(10_000, { min: 1, max: 1_000_000 }).describe('More than these get 429.'),
  PROXY_MAX_RUNNING_COMMANDS: intEnv(128, { min: 1, max: 10_000 }).describe('Commands at once; further ones wait.'),
  PROXY_MAX_TASKS: intEnv(4_096, { min: 1, max: 1_000_000 }).describe(
    'Tasks that are remembered; ended ones are forgotten first, the longest ended before others.',
  ),
  PROXY_MAX_CONTEXTS: intEnv(1_024, { min: 1, max: 1_000_000 }).describe(
    'Contexts whose trajectories are kept; the least recently used go first, never one that is unfinished.',
  ),
  PROXY_MAX_TRAJECTORY_BYTES: intEnv(GIB / 2, { min: 1_048_576, max: 64 * GIB }).describe(
    'Bytes of all trajectories that are kept.',
  ),
  PROXY_MAX_OUTPUT_BYTES: intEnv(4 * 1_048_576, { min: 1_024, max: 64 * 1_048_576 }).describe(
    'Kept of each of a command’s two streams, half from its beginning and half from its end.',
  ),
  PROXY_KILL_GRACE_MS: intEnv(500, { min: 0, max: 60_000 }).describe('Between SIGTERM and SIGKILL of a command.'),
  PROXY_TRACE_CONTENT: onOff.describe('off: no messages, arguments and results on spans; trajectories have all.'),
  PROXY_DRAIN_DELAY_MS: intEnv(500, { min: 0, max: 30_000 }).describe(
    'Wait between "not ready" and closing, until load balancers have noticed.',
  ),
  PROXY_REGISTRY_URL: z
    .string()
    .optional()
    .describe('One registry, or several comma-separated for fail-over; unset: REGISTRY_URL.'),
  REGISTRY_URL: z
    .string()
    .optional()
    .describe('Without any registry the proxy registers nowhere and agrees with nobody.'),
  PROXY_AGENT_ID: agentId
    .optional()
    .describe('Unique among living agents; unset: from POD_NAME or HOSTNAME, and without these `proxy`.'),
  POD_NAME: z.string().optional().describe('Gives the agent id where PROXY_AGENT_ID does not.'),
  HOSTNAME: z.string().optional().describe('Gives the agent id where POD_NAME does not.'),
  PROXY_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('How others reach the HTTP port; default http://127.0.0.1 with the port.'),
  PROXY_GRPC_PORT: portEnv(9_003).describe('gRPC port of negotiations, with a registry; 0 takes a free one.'),
  PROXY_TTL_SECONDS: intEnv(30, { min: 1, max: 3_600 }).describe('Lease of the registration to ask for.'),
  PROXY_OWNER_TOKEN: secretEnv.optional().describe('Owner token: with it a crashed proxy replaces itself at once.'),
  PROXY_JOIN_TOKEN: secretEnv.optional().describe('Join token of the registry, when it wants one.'),
});

export type ProxyConfig = z.infer<typeof proxyEnv>;

/** @throws ConfigError */
export function readProxyConfig(env: Readonly<Record<string, string | undefined>>): ProxyConfig {
  return readEnv(proxyEnv, env);
}

export function listenAddress(config: ProxyConfig): { readonly host: string; readonly port: number } {
  const { PROXY_HTTP_PORT: port } = config;
  return { host: config.PROXY_HOST ?? config.A2A_HOST, port: port === -1 ? config.A2A_PORT : port };
}
