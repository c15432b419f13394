import { listenAddress, type ProxyConfig } from '../config.js';
import { agentIdOf } from './agent-id.js';
import type { MemberOptions } from './create-member.js';

/** What the environment says of the proxy as an agent. */
export function memberSettings(config: ProxyConfig): Omit<MemberOptions, 'engine' | 'logger' | 'metrics'> {
  return {
    agentId: config.PROXY_AGENT_ID ?? agentIdOf(config.POD_NAME) ?? agentIdOf(config.HOSTNAME) ?? 'proxy',
    registryUrl: config.PROXY_REGISTRY_URL ?? config.REGISTRY_URL,
    publicUrl: config.PROXY_PUBLIC_URL,
    host: listenAddress(config).host,
    grpcPort: config.PROXY_GRPC_PORT,
    ttlSeconds: config.PROXY_TTL_SECONDS,
    ownerToken: config.PROXY_OWNER_TOKEN,
    joinToken: config.PROXY_JOIN_TOKEN,
    operatorToken: config.PROXY_CONTROL_TOKEN,
  };
}
