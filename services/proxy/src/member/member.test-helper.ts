import { connectA2a, type A2aBinding, type A2aConnection } from '@parley/agent';
import { silentLogger } from '@parley/service-kit';
import { readProxyConfig } from '../config.js';
import { startProxy, type StartOptions, type TestProxy } from '../proxy.test-helper.js';
import { createMember, memberSettings, type ProxyMember } from './index.js';

export interface MemberProxy extends TestProxy {
  readonly member: ProxyMember;
}

/** A proxy with its member, as `main` puts them together. */
export async function startMember(options: StartOptions = {}): Promise<MemberProxy> {
  const logger = options.logger ?? silentLogger;
  const env = { PROXY_GRPC_PORT: '0', ...options.env };
  const settings = memberSettings(readProxyConfig({ A2A_HOST: '127.0.0.1', ...env }));
  let member: ProxyMember | undefined;
  const proxy = await startProxy({
    ...options,
    env,
    extend: (parts) => (member = createMember({ ...settings, ...parts, logger })),
  });
  if (member === undefined) throw new Error('the proxy was not extended');
  return Object.assign(proxy, { member });
}

/** Nothing listens here: the proxy is an agent that has not registered yet. */
export const AWAY = { PROXY_REGISTRY_URL: 'http://127.0.0.1:9', PROXY_AGENT_ID: 'proxy-0' };

const connections = new Set<A2aConnection>();

export async function connect(proxy: TestProxy, binding: A2aBinding): Promise<A2aConnection> {
  const card = (await proxy.ask('/.well-known/agent-card.json', { headers: { 'A2A-Version': '1.0' } })).json;
  const connection = await connectA2a({ card: card as Record<string, unknown>, bindings: [binding] });
  connections.add(connection);
  return connection;
}

export async function closeConnections(): Promise<void> {
  await Promise.all([...connections].map((connection) => connection.close()));
  connections.clear();
}
