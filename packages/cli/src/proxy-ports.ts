import type * as ProxyProtocol from '@parley/proxy-protocol';
import { set } from './read-values.js';

/** What speaks with proxies: it is loaded when it is needed, not with the program. */
export type ProxyPorts = typeof ProxyProtocol;

export async function loadProxyProtocol(): Promise<ProxyPorts> {
  return import('@parley/proxy-protocol');
}

/** What a proxy wants to see before it tells trajectories or takes configuration, if it was told to: its control token. */
export function controlHeaders(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const token = set(env['PARLEY_PROXY_CONTROL_TOKEN'])?.trim();
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
