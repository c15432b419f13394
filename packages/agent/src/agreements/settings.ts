/** How a keeper behaves. Names carry their units; zero is allowed only where it says so. */
export interface KeeperSettings {
  /** Lease of a new agreement when nothing else is wished. Default 60. */
  readonly agreementTtlSeconds: number;
  /** Wishes below and above are moved to these bounds. Default 5 and 3,600. */
  readonly minTtlSeconds: number;
  readonly maxTtlSeconds: number;
  /** No renewal leads past it, counted from the start. Default 86,400. */
  readonly maxLifetimeSeconds: number;
  /** A pending agreement that nobody confirms ends after it. Default 15,000. */
  readonly confirmWithinMs: number;
  /** How long an offer stands; longer when the initiator asks for a longer `deadline_ms`. Default 30,000. */
  readonly offerValidMs: number;
  /** Proposals judged per session. Default 4. */
  readonly maxRounds: number;
  /** Agreements that have not ended, pending ones included. Default 64. */
  readonly maxAgreements: number;
  /** Open offers and pending agreements of one initiator. Default 8. */
  readonly maxOpenPerInitiator: number;
  /** Ended agreements stay readable so long. Default 3,600,000. */
  readonly endedRetentionMs: number;
  /** Sessions are remembered so long after their agreement's end. Default 600,000. */
  readonly sessionRetentionMs: number;
  /** Sessions and ended agreements kept at once, oldest forgotten first. Default 10,000. */
  readonly maxRemembered: number;
  /** Ends an agreement that took no call for so long. Default 0: never. */
  readonly idleEndSeconds: number;
  /** Upper bounds for the limits of an agreement; absent: what the initiator wishes. */
  readonly maxCalls?: number;
  readonly maxConcurrentCalls?: number;
  /** A call that was never given back counts as running so long. Default 600,000. */
  readonly callDeadlineMs: number;
  /** The hooks for policy and renewal must answer within it. Default 1,000. */
  readonly policyTimeoutMs: number;
  /** How often a started keeper looks for passed deadlines. Default 1,000. */
  readonly sweepEveryMs: number;
  /** Suspensions closer together than this count as one event for the guard. Default 10,000. */
  readonly massWindowMs: number;
}

export const DEFAULT_KEEPER_SETTINGS: KeeperSettings = {
  agreementTtlSeconds: 60,
  minTtlSeconds: 5,
  maxTtlSeconds: 3_600,
  maxLifetimeSeconds: 86_400,
  confirmWithinMs: 15_000,
  offerValidMs: 30_000,
  maxRounds: 4,
  maxAgreements: 64,
  maxOpenPerInitiator: 8,
  endedRetentionMs: 3_600_000,
  sessionRetentionMs: 600_000,
  maxRemembered: 10_000,
  idleEndSeconds: 0,
  callDeadlineMs: 600_000,
  policyTimeoutMs: 1_000,
  sweepEveryMs: 1_000,
  massWindowMs: 10_000,
};
