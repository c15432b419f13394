import type { A2aConnection } from '@parley/agent';
import type { ConnectSettings } from './a2a-settings.js';

/** The way to an agent. Rejects as the methods of a connection do. */
export type ConnectTo = (settings: ConnectSettings, signal: AbortSignal) => Promise<A2aConnection>;
