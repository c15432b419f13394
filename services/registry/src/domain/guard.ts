/**
 * The mass-expiry guard. While the registry or its store was away nobody could renew, so the deadlines that passed
 * meanwhile say nothing about the agents. Such leases count from the return, once, for one lease. Whoever renews has a
 * later deadline by that, so the guard ends by itself and applying it twice changes nothing.
 */

export interface GuardSettings {
  /**
   * Sweeps run every second; a longer silence than this is an outage. Default 2,000: less than what two missed renewals
   * leave of a lease of 3 s, so that an outage that is not bridged cannot cost a lease.
   */
  readonly awayThresholdMs: number;
  /** Only when more than this share of the known agents is concerned. Default 0.5. */
  readonly share: number;
  /** And at least so many. Default 1: a measured outage is reason enough for a handful of agents too. */
  readonly minAgents: number;
}

export const DEFAULT_GUARD: GuardSettings = { awayThresholdMs: 2_000, share: 0.5, minAgents: 1 };

/** The last outage: `awayFromMs` is when deadlines were last looked at, `backAtMs` when they could be again. */
export interface Outage {
  readonly awayFromMs: number;
  readonly backAtMs: number;
}

/**
 * Decides, at the first sign of life after a silence, whether it was an outage worth a grace.
 * `concerned`: agents whose deadline was still ahead at `sweptAtMs`; `known`: all agents, dead ones not yet swept included.
 */
export function detectOutage(
  sweptAtMs: number,
  nowMs: number,
  agents: { readonly concerned: number; readonly known: number },
  settings: GuardSettings,
): Outage | undefined {
  if (nowMs - sweptAtMs <= settings.awayThresholdMs) return undefined;
  if (agents.concerned < settings.minAgents || agents.concerned <= settings.share * agents.known) return undefined;
  return { awayFromMs: sweptAtMs, backAtMs: nowMs };
}

/** The deadline that counts. */
export function guardedDeadline(deadlineMs: number, ttlMs: number, outage: Outage | undefined): number {
  if (outage === undefined) return deadlineMs;
  const extended = outage.backAtMs + ttlMs;
  return deadlineMs >= outage.awayFromMs && deadlineMs < extended ? extended : deadlineMs;
}
