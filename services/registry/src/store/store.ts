import type { GuardSettings } from '../domain/guard.js';
import type { AgentRecord, AgreementChangeType, Change, Renewal } from '../domain/types.js';

/** Every answer of the store carries its own clock: deadlines mean nothing by any other. */
export interface Stamped {
  readonly nowMs: number;
}

export interface RegisterCommand {
  readonly agentId: string;
  readonly manifestJson: string;
  readonly ttlMs: number;
  readonly callerTokenHash?: string;
  readonly newTokenHash: string;
}

export type RegisterResult =
  | (Stamped & { readonly kind: 'registered' | 'replaced'; readonly revision: number; readonly deadlineMs: number })
  | (Stamped & { readonly kind: 'taken' })
  | (Stamped & { readonly kind: 'full' });

export type RenewResult =
  | (Stamped & {
      readonly kind: 'renewed';
      readonly deadlineMs: number;
      readonly ttlMs: number;
      /** The registration that was renewed. */
      readonly revision: number;
    })
  | (Stamped & { readonly kind: 'unknown' })
  | (Stamped & { readonly kind: 'forbidden' });

/** Who asks: the owner by the hash of its token, or the operator, who needs none. */
export type Authority = { readonly tokenHash: string } | { readonly operator: true };

export type DeregisterResult =
  | (Stamped & { readonly kind: 'done'; readonly revision: number })
  | (Stamped & { readonly kind: 'unknown' })
  | (Stamped & { readonly kind: 'forbidden' });

export type Ownership = 'owner' | 'other' | 'unknown';

/** Where in which log a reader stands. `mark` names the line itself, so that another log of the same epoch is noticed. */
export interface LogPosition {
  readonly epoch: string;
  readonly revision: number;
  readonly mark: string;
  /** Where in the stream of renewals; only its store understands it. */
  readonly renewals: string;
}

/** What the store holds, in bounded batches; the log from `position` on completes it. */
export interface Snapshot {
  readonly position: LogPosition;
  readonly nowMs: number;
  readonly records: AsyncIterable<readonly AgentRecord[]>;
}

/** What was new since the last batch; both lists may be empty: then nothing happened for about a second. */
export interface LogBatch {
  readonly position: LogPosition;
  readonly changes: readonly Change[];
  /** Renewals that other replicas took. */
  readonly renewals: readonly Renewal[];
}

/** The log cannot be followed from where the reader stands: it must take a snapshot. */
export class LogGap extends Error {
  override readonly name = 'LogGap';
  readonly reason: 'too_old' | 'epoch_changed';

  constructor(reason: 'too_old' | 'epoch_changed') {
    super(
      reason === 'too_old' ? 'The log does not reach back that far.' : 'The store lost its data or has older data.',
    );
    this.reason = reason;
  }
}

export interface SweepCommand {
  /** At most so many deadlines at once. */
  readonly limit: number;
  readonly guard: GuardSettings;
}

export interface SweepResult extends Stamped {
  readonly epoch: string;
  readonly revision: number;
  readonly expired: number;
  /** Leases that the mass-expiry guard lengthened. */
  readonly guarded: number;
  /** More is due than `limit`. */
  readonly more: boolean;
}

/** What the store knows of one id. An orphan has a deadline, but no record: its owner has to register again. */
export type DeadlineView =
  | { readonly kind: 'record'; readonly revision: number; readonly deadlineMs: number }
  | { readonly kind: 'orphan'; readonly deadlineMs: number }
  | { readonly kind: 'unknown' };

export interface AgreementCommand {
  readonly agreementId: string;
  readonly version: number;
  readonly state: string;
  readonly parties: readonly [initiator: string, responder: string];
  readonly json: string;
  readonly ttlMs: number;
  readonly changeType: AgreementChangeType;
}

export interface StoredAgreement {
  readonly agreementId: string;
  readonly version: number;
  readonly state: string;
  readonly json: string;
}

export interface AgreementFilter {
  readonly state?: string;
  /** One of the two parties. */
  readonly agentId?: string;
  readonly limit: number;
  /** The id after which the page begins. */
  readonly afterId?: string;
}

export interface AgreementPage {
  readonly agreements: readonly StoredAgreement[];
  /** Present when there is more. */
  readonly nextAfterId?: string;
}

/**
 * Where registrations live. Each operation is one atomic step: record, deadline and log line change together or not
 * at all. Every failure of the store itself is an AppError `unavailable` with code `store_unavailable`, within a second.
 */
export interface RegistryStore {
  /** The store's clock as far as it is known here, without asking. */
  now(): number;
  /** @throws AppError when the store does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;

  /**
   * Writes or replaces a registration. A living id is replaced only for the token that owns it. An id whose deadline
   * has passed is free, also when no sweep has come by: then its `expired` stands in the log before `registered`.
   */
  register(command: RegisterCommand): Promise<RegisterResult>;
  /** A renewal never revives: `unknown` once the deadline has passed. */
  renew(agentId: string, tokenHash: string): Promise<RenewResult>;
  /** `operator` needs no token. */
  deregister(
    agentId: string,
    by: { readonly tokenHash: string } | { readonly operator: true },
  ): Promise<DeregisterResult>;
  verifyOwner(agentId: string, tokenHash: string): Promise<Ownership>;

  snapshot(): Promise<Snapshot>;
  /**
   * Changes and renewals after a position. Ends when the signal aborts.
   * @throws LogGap when the reader has to take a snapshot; AppError when the store is away.
   */
  changes(after: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /** Tells the other replicas. */
  publishRenewals(renewals: readonly Renewal[]): Promise<void>;
  /** In the order asked. */
  deadlinesOf(agentIds: readonly string[]): Promise<readonly DeadlineView[]>;
  /**
   * The store lost its data: makes known which agents this replica still serves, so that each of them either registers
   * again or expires in the log exactly once. Ids that have a record or a deadline already stay as they are.
   */
  adoptOrphans(
    orphans: readonly { readonly agentId: string; readonly deadlineMs: number }[],
  ): Promise<readonly DeadlineView[]>;
  /** Turns passed deadlines into exactly one `expired` each; safe to run in every replica at once. */
  sweep(command: SweepCommand): Promise<SweepResult>;

  /** Only a newer version is taken; then there is exactly one line in the log. */
  recordAgreement(command: AgreementCommand): Promise<{ readonly recorded: boolean; readonly revision?: number }>;
  getAgreement(agreementId: string): Promise<StoredAgreement | undefined>;
  listAgreements(filter: AgreementFilter): Promise<AgreementPage>;
}
