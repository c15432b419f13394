import type { A2aBinding } from '@parley/agent';
import type { ConnectTo } from './a2a-ports.js';
import type { Binding } from './a2a-settings.js';

const BINDING_NAMES: Readonly<Record<Binding, A2aBinding>> = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON', grpc: 'GRPC' };

/** As long as somebody waits: a timer takes little more. */
const NO_LIMIT_MS = 20 * 24 * 3_600_000;
const CALL_MS = 30_000;
const CARD_MS = 10_000;

/** The way to a real agent. What speaks with agents is large, so it is loaded here and not with the program. */
export const connectTo: ConnectTo = async ({ url, binding, headers, timeoutMs }, signal) => {
  const { connectA2a } = await import('@parley/agent');
  return connectA2a({
    url,
    headers,
    signal,
    timeouts: { cardMs: Math.min(timeoutMs ?? CARD_MS, CARD_MS), callMs: timeoutMs ?? CALL_MS, taskMs: NO_LIMIT_MS },
    ...(binding === undefined ? {} : { bindings: [BINDING_NAMES[binding]] }),
  });
};
