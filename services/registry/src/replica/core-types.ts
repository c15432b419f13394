import type { AgentEntry } from '../domain/agent-entry.js';
import type { GuardSettings } from '../domain/guard.js';
import type { NearMiss, QueryOrder } from '../domain/query.js';
import type { AgreementChangeType, LeaseView, Manifest } from '../domain/types.js';
import type { Authority, StoredAgreement } from '../store/store.js';

/** What happened, in the order of the log. `agent.render()` is the JSON of the agent with its lease. */
export type RegistryEvent =
  | {
      readonly type: 'registered' | 'updated';
      readonly revision: number;
      readonly atMs: number;
      readonly agentId: string;
      readonly agent: AgentEntry;
    }
  | {
      readonly type: 'expired' | 'deregistered';
      readonly revision: number;
      readonly atMs: number;
      readonly agentId: string;
    }
  | {
      readonly type: AgreementChangeType;
      readonly revision: number;
      readonly atMs: number;
      readonly agreementId: string;
      /** The agreement as its responder reported it. */
      readonly agreementJson: string;
    };

/** The line of events is broken here: take a new snapshot (`agents()` as of `revision`), then go on. */
export interface ResyncEvent {
  readonly type: 'resync';
  readonly revision: number;
  readonly atMs: number;
  /** The store came back without its data (or with older data), or this replica fell behind the log. */
  readonly reason: 'epoch_changed' | 'fell_behind';
}

export type RegistryListener = (event: RegistryEvent | ResyncEvent) => void;

/**
 * How current the memory of this replica is.
 * - `starting`: no snapshot yet; reads are refused.
 * - `live`: the store answers and the log is read.
 * - `stale`: the store is away; reads answer as of `staleSinceMs`, writes are refused.
 * - `unavailable`: away for longer than `maxStaleMs`; reads are refused too.
 */
export type ReplicaStatus =
  | { readonly state: 'starting' }
  | { readonly state: 'live'; readonly revision: number }
  | { readonly state: 'stale' | 'unavailable'; readonly revision: number; readonly staleSinceMs: number };

export interface RegistrySettings {
  /** Bounds of a granted lease. Defaults 1 s, 1 h; without a wish 30 s. */
  readonly minTtlMs: number;
  readonly maxTtlMs: number;
  readonly defaultTtlMs: number;
  /** How long reads are answered from memory while the store is away. Default 60,000. */
  readonly maxStaleMs: number;
  /** Default 1,000: how often passed deadlines are looked for. */
  readonly sweepIntervalMs: number;
  /** Default 200: renewals reach the other replicas in batches this far apart. */
  readonly renewalBatchMs: number;
  /** How long a write waits until its own replica shows it. Default 1,000. */
  readonly applyTimeoutMs: number;
  /** How many events a watcher can be behind and still resume. Default 4,096. */
  readonly recentEvents: number;
  readonly guard: GuardSettings;
}

/** Counters of the replica; every hook is optional and must not throw. */
export interface RegistryHooks {
  /** Registrations whose deadline passed, counted once over all replicas. */
  readonly onExpired?: (count: number) => void;
  /** Leases that the mass-expiry guard lengthened. */
  readonly onGuarded?: (count: number) => void;
  /** A renewal that another replica took and this one learned of only just before it would have hidden the agent. */
  readonly onRenewedLate?: (count: number) => void;
  readonly onResync?: (reason: ResyncEvent['reason']) => void;
  readonly onStatus?: (status: ReplicaStatus) => void;
}

export interface RegisterInput {
  readonly manifest: Manifest;
  /** Default: made from `manifest`. */
  readonly manifestJson?: string;
  /** The wish, in milliseconds; the bounds of the settings win. */
  readonly ttlMs?: number;
  /** SHA-256 (base64url) of the token that the caller showed. */
  readonly callerTokenHash?: string;
  /** SHA-256 (base64url) of the token that owns the registration if it is a new one. */
  readonly newTokenHash: string;
}

export interface RegisterOutcome {
  /** `replaced`: a living registration of the same owner; its owner token stays. */
  readonly kind: 'registered' | 'replaced';
  readonly agentId: string;
  readonly lease: LeaseView;
  readonly revision: number;
}

export interface DiscoverInput {
  /** `name` or `name@range`, all of them; empty or absent: every agent. */
  readonly required?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly exclude?: readonly string[];
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: QueryOrder;
  readonly explain?: boolean;
  /** Adds `total`. */
  readonly countTotal?: boolean;
}

export interface DiscoverOutcome {
  /** `render()` is the JSON text, `manifest()` the parsed manifest. */
  readonly agents: readonly AgentEntry[];
  readonly nextCursor?: string;
  /** With `explain`. */
  readonly nearMisses?: readonly NearMiss[];
  /** With `countTotal`: all living agents that match. */
  readonly total?: number;
  readonly staleSinceMs?: number;
}

export interface AgreementReport {
  readonly agreementId: string;
  /** Grows with each change; an older or equal one changes nothing. */
  readonly version: number;
  readonly state: string;
  /** Ids of the two parties. */
  readonly parties: readonly [initiator: string, responder: string];
  readonly json: string;
  /** How long the witnessed agreement stays readable. */
  readonly ttlMs: number;
  readonly changeType: AgreementChangeType;
}

/**
 * The registry without a wire. Everything that fails throws an AppError:
 * `unavailable`/`store_unavailable` (the store is away), `conflict`/`agent_id_taken`, `not_found`/`lease_unknown`
 * and `agent_unknown`, `forbidden`/`not_owner`, `invalid_request` with the path of what is wrong in a query,
 * `too_many_requests`/`registry_full`.
 */
export interface RegistryCore {
  /** Resolves when the catalogue is loaded, or after 2 s without a store (it goes on trying; status `starting`). */
  start(): Promise<void>;
  /** Bounded also when the store does not answer. Idempotent. */
  stop(): Promise<void>;
  status(): ReplicaStatus;
  /** Asks the store itself; for readiness. */
  ping(): Promise<void>;

  register(input: RegisterInput): Promise<RegisterOutcome>;
  renew(agentId: string, tokenHash: string): Promise<LeaseView>;
  deregister(agentId: string, by: Authority): Promise<{ readonly revision: number }>;
  verifyOwner(agentId: string, tokenHash: string): Promise<'owner' | 'other' | 'unknown'>;

  discover(input: DiscoverInput): DiscoverOutcome;
  /** Throws `not_found`/`agent_unknown`. */
  get(agentId: string): { readonly agent: AgentEntry; readonly staleSinceMs?: number };
  /** Every living agent in id order, and the revision they are of: what a watcher starts with. */
  agents(): { readonly revision: number; readonly agents: Iterable<AgentEntry>; readonly staleSinceMs?: number };

  /** Called in order, synchronously. Answers the function that ends it. */
  subscribe(listener: RegistryListener): () => void;
  /** The events after `revision`, or `too_old`: take a snapshot. In one tick with `subscribe` nothing is lost or doubled. */
  changesAfter(revision: number): readonly RegistryEvent[] | 'too_old';
  /** Resolves true when this replica has applied `revision`, false after the time-out (default `applyTimeoutMs`). */
  applied(revision: number, options?: { readonly timeoutMs?: number }): Promise<boolean>;

  recordAgreement(report: AgreementReport): Promise<{ readonly recorded: boolean }>;
  /** Throws `not_found`/`agreement_unknown`. */
  getAgreement(agreementId: string): Promise<StoredAgreement>;
  listAgreements(filter: {
    readonly state?: string;
    readonly agentId?: string;
    readonly limit?: number;
    readonly cursor?: string;
  }): Promise<{ readonly agreements: readonly StoredAgreement[]; readonly nextCursor?: string }>;

  /** How many agents live, as far as this replica knows; for metrics. */
  livingCount(): number;
  /** The store's clock, as far as it is known here; stands still while the store is away. */
  nowMs(): number;
}
