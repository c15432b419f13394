import type { ServerAddress } from './redis-target.js';

/** Knows which server is to be used now. */
export interface ServerLocator {
  /**
   * Settles within about a second.
   * @throws Error when nobody who was asked knows.
   */
  locate(): Promise<ServerAddress>;
  /** A server has said where to go instead: the next `locate` answers that. */
  readonly redirected?: (to: ServerAddress) => void;
  /** How often to look whether it is still the one: a server that was replaced may not know and take writes. */
  readonly recheckMs: number;
}

export const LOCATE_TIMEOUT_MS = 500;
