import type { SessionRecord } from '../negotiation/session-record.js';
import type { AgreementState } from '../wire/agreement.js';
import type { AgreementRecord } from './agreement-record.js';

/** One atomic step of a negotiation: the session, and the agreement it made if it made one. */
export interface SessionCommit {
  readonly session: SessionRecord;
  /** 0: there must be no such session yet. */
  readonly expectedVersion: number;
  /** Written only together with the session. */
  readonly agreement?: AgreementRecord;
  readonly maxAgreements: number;
  readonly maxOpenPerInitiator: number;
  readonly maxRemembered: number;
  readonly now: number;
}

/**
 * `conflict`: somebody else wrote the session meanwhile; `capacity`: no place for another agreement;
 * `too_many_open`: the initiator has its share of open offers and pending agreements;
 * `full`: as many negotiations are under way as may be remembered. Nothing was written unless `done`.
 */
export type CommitResult = 'done' | 'conflict' | 'capacity' | 'too_many_open' | 'full';

export interface ListFilter {
  readonly state?: AgreementState;
  /** As either party. */
  readonly agentId?: string;
}

export interface ListPage {
  readonly records: readonly AgreementRecord[];
  /** There may be more behind it, also after a page that came out short. */
  readonly nextCursor?: string;
}

export interface CallClaim {
  readonly agreementId: string;
  readonly callId: string;
  readonly now: number;
  /** The call gives its place back by then, whatever happens to this process. */
  readonly runsUntil: number;
  readonly maxCalls?: number;
  readonly maxConcurrentCalls?: number;
}

/**
 * `reserved`: counts from now on; `repeated`: this id was counted before; `exhausted`: no calls left;
 * `busy`: as many as allowed run now; `not_active`: missing, or in a state that takes no calls.
 */
export interface CallClaimResult {
  readonly outcome: 'reserved' | 'repeated' | 'exhausted' | 'busy' | 'not_active';
  /** Calls counted, this one included. */
  readonly used: number;
  /** The call runs now because of this claim, and has to be released. A call that ran already is not held twice. */
  readonly holdsPlace: boolean;
}

export interface CallUsage {
  readonly used: number;
  readonly running: number;
}

/** Call ids remembered for an agreement; also the most that run at once. */
export const MAX_REMEMBERED_CALLS = 1_024;

/**
 * Where a keeper's agreements and sessions live. Every method that writes is atomic, over all keepers
 * that share the store. Records given out are never changed.
 * @throws AppError `unavailable` with code `store_unavailable`, from every method.
 */
export interface AgreementStore {
  /** Undefined when unknown, or ended longer ago than it stays readable. */
  get(agreementId: string): Promise<AgreementRecord | undefined>;
  /** Writes `next` if the stored version is `expectedVersion`; false when it is not. An end also shortens the session's life. */
  compareAndSet(expectedVersion: number, next: AgreementRecord): Promise<boolean>;
  /** Newest first. @param limit 1-1,000. */
  list(filter: ListFilter, limit: number, cursor?: string): Promise<ListPage>;
  /** All that have not ended. */
  living(): Promise<readonly AgreementRecord[]>;
  countLiving(): Promise<number>;
  /** Not ended, and the deadline is `now` or earlier; the earliest first. */
  due(now: number, limit: number): Promise<readonly AgreementRecord[]>;
  /** Orders an agreement by its present deadline: calls move the idle end without a write of their own. */
  reschedule(agreementId: string): Promise<void>;

  getSession(initiator: string, sessionId: string, now: number): Promise<SessionRecord | undefined>;
  commit(commit: SessionCommit): Promise<CommitResult>;

  claimCall(claim: CallClaim): Promise<CallClaimResult>;
  /** Gives the place back; an id that does not run changes nothing. */
  releaseCall(agreementId: string, callId: string, now: number): Promise<CallUsage>;
  usage(agreementId: string, now: number): Promise<CallUsage>;

  /** Forgets what is past its time. */
  prune(now: number): Promise<void>;
}
