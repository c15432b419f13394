import type { AgentSettings } from '../run-settings.js';

/** `parley acp`, read and checked. */
export interface AcpSettings {
  /** Its folder is replaced by that of each session. */
  readonly agent: AgentSettings;
  /** Absolute. */
  readonly sessionsDir: string;
  readonly maxSessions: number;
}
