import type { Logger } from '@parley/service-kit';
import type { OfferedCapabilities } from '../negotiation/match-capabilities.js';
import type { NegotiationPolicy } from '../negotiation/policy.js';
import type { Scalar } from '../skill.js';
import type { Agreement, AgreementState, EndReason } from '../wire/agreement.js';
import type { NegotiationOutcome, NegotiationReasonCode, NegotiationResponse } from '../wire/answers.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import type { AgreementRecord } from './agreement-record.js';
import type { AgreementStore } from './agreement-store.js';
import type { KeeperSettings } from './settings.js';

/** What the transport knows of whoever negotiates. */
export interface NegotiationCaller {
  /** The id that the transport itself verified; another `agent_id` in the request is refused. */
  readonly authenticatedAgent?: string;
  /** Whether the initiator is registered; absent: not known. */
  readonly initiatorRegistered?: boolean;
  /** The secret behind `proof_hash`: needed to withdraw what was confirmed. */
  readonly proof?: string;
}

/** False declines the renewal: the lease runs out (`renewal_declined`). A hook that fails or is late allows it. */
export type RenewalPolicy = (
  agreement: Agreement,
  context: { readonly signal: AbortSignal },
) => boolean | Promise<boolean>;

export type AgreementEventType = 'agreed' | 'confirmed' | 'suspended' | 'resumed' | 'ended';

/** Exactly one for each transition, from the keeper that made it; renewals are not transitions. */
export interface AgreementEvent {
  readonly type: AgreementEventType;
  /** As it may be shown to anybody. */
  readonly agreement: Agreement;
  /** With the responder's secret: for calls to the initiator, never for a log. */
  readonly record: AgreementRecord;
  /** ms since the epoch. */
  readonly at: number;
}
export type AgreementListener = (event: AgreementEvent) => void;

export interface KeeperMetrics {
  /** Once per answer; `reason` with what was not accepted. Errors and repeated answers are not counted. */
  onNegotiation?(outcome: NegotiationOutcome, reason?: NegotiationReasonCode): void;
  onEnd?(reason: EndReason): void;
}

export interface AgreementKeeperOptions {
  /** The responder's own id. */
  readonly agentId: string;
  /** Read at each decision, so a changed manifest counts at once. */
  readonly capabilities: () => OfferedCapabilities;
  /** Default: in memory. */
  readonly store?: AgreementStore;
  readonly settings?: Partial<KeeperSettings>;
  readonly policy?: NegotiationPolicy;
  readonly renewalPolicy?: RenewalPolicy;
  readonly metrics?: KeeperMetrics;
  readonly logger?: Logger;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Cryptographically random bytes. Default: of node:crypto. */
  readonly randomBytes?: (count: number) => Uint8Array;
}

export interface ConfirmInput {
  readonly termsDigest: string;
  readonly proof: string | undefined;
}

export interface RenewInput {
  readonly leaseRevision: number;
  readonly termsDigest: string;
  readonly proof: string | undefined;
  /** Wish, moved into [minTtlSeconds, the agreed ttl]. Default: the agreed ttl. */
  readonly ttlSeconds?: number | undefined;
  /** As the caller sees it. */
  readonly state?: AgreementState | undefined;
}

export type EndInput =
  | { readonly proof: string | undefined; readonly reason?: EndReason | undefined }
  /** By this process itself: no proof. */
  | { readonly internal: true; readonly reason: EndReason };

/** `internal`: for the process itself or its operator; otherwise the proof decides. */
export type GetInput = { readonly proof: string | undefined } | { readonly internal: true };

export interface ListInput {
  readonly state?: AgreementState | undefined;
  readonly agentId?: string | undefined;
  /** 1-1,000, default 100. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AgreementPage {
  readonly agreements: Agreement[];
  readonly next_cursor?: string;
}

export interface ReserveCallInput {
  readonly agreementId: string;
  readonly termsDigest: string;
  readonly capability: string;
  /** Equal to what was agreed, or left out; `name` or `capability/name`. */
  readonly parameters?: Readonly<Record<string, Scalar>>;
  /** The same id counts once. */
  readonly callId: string;
  readonly proof: string | undefined;
}

export interface CallReservation {
  /** The agreed parameters of the capability, complete with defaults: what the work is done with. */
  readonly applied: Readonly<Record<string, Scalar>>;
  readonly termsDigest: string;
  /** Present when calls are limited. */
  readonly remaining: { readonly calls?: number };
  /** This call id was reserved before: it cost nothing now. */
  readonly repeated: boolean;
  readonly initiator: string;
  /** Gives the place back; may be called more than once, never throws. */
  release(): Promise<void>;
}

/** What became of a batch of suspensions. */
export interface SuspendResult {
  readonly suspended: number;
  /** Too many at once: they wait one lease for their parties to come back. */
  readonly waiting: number;
}

/**
 * The responder's side of negotiating, and the life of the agreements that come out of it. Several keepers
 * of one agent may share a store; each transition has one winner among them.
 *
 * Every method throws AppError `unavailable`/`store_unavailable` while the store cannot be reached; an
 * answer leaves only after what it says is stored. Whoever is not a party of an agreement (no proof, or
 * another one) is answered as if it did not exist: `not_found`/`agreement_unknown`.
 */
export interface AgreementKeeper {
  /**
   * Judges a proposal, or takes, declines or withdraws what was offered. Declined terms are an answer, not an error.
   * @throws AppError `conflict`: `session_conflict`, `session_closed`, `offer_superseded`, `offer_mismatch`;
   * `gone`: `offer_expired`; `not_found`: `session_unknown`; `too_many_requests`: `too_many_open`;
   * `forbidden`: `agent_id_mismatch`.
   */
  negotiate(request: NegotiationRequest, caller?: NegotiationCaller): Promise<NegotiationResponse>;
  /**
   * Makes a pending agreement active; again, it changes nothing.
   * @throws AppError `gone`/`agreement_ended`, `conflict`/`agreement_terms_mismatch`.
   */
  confirm(agreementId: string, input: ConfirmInput): Promise<Agreement>;
  /**
   * Lengthens the lease to the later of old and new end, and confirms what is pending.
   * @throws AppError `gone`/`agreement_ended`; `conflict`: `lease_revision_stale`, `renewal_declined`, and
   * `view_mismatch`, which has ended the agreement.
   */
  renew(agreementId: string, input: RenewInput): Promise<Agreement>;
  /** Ends it, or answers how it ended before. */
  end(agreementId: string, input: EndInput): Promise<Agreement>;
  get(agreementId: string, input: GetInput): Promise<Agreement>;
  /** Newest first, without secrets. For the operator and the process itself: no proof is asked. */
  list(input?: ListInput): Promise<AgreementPage>;
  /**
   * Admits one call under an agreement; the first one confirms a pending agreement.
   * @throws AppError in this order: `not_found`/`agreement_unknown`, `gone`/`agreement_ended`,
   * `unavailable`/`agreement_suspended`, `conflict`/`agreement_terms_mismatch`, `forbidden`/`agreement_scope`,
   * `too_many_requests`/`agreement_limit`.
   */
  reserveCall(input: ReserveCallInput): Promise<CallReservation>;

  /**
   * The registrations of these agents lapsed (the keeper's own id: of this side). Their active agreements are
   * suspended for one lease; when that would be at least 5 and more than half of all, they wait for one lease first.
   */
  suspendFor(agentIds: string | readonly string[]): Promise<SuspendResult>;
  /** The agent is registered again. Another owner, or terms no longer offered, end the agreement instead. */
  resumeFor(agentId: string, options: { readonly sameOwner: boolean }): Promise<number>;
  /** Ends every agreement with this agent, pending ones included (the keeper's own id: all). */
  endFor(agentId: string, reason: EndReason): Promise<number>;
  /** Ends (`terms_withdrawn`) what the capabilities offered now no longer satisfy. */
  endWithdrawn(): Promise<number>;

  /** Agreements that have not ended. */
  countLiving(): Promise<number>;
  /** Acts on every deadline that has passed; safe beside other keepers. @returns how many agreements ended. */
  sweep(now?: number): Promise<number>;
  /** @returns what removes the listener. A listener that throws is logged and disturbs nothing. */
  onEvent(listener: AgreementListener): () => void;
  /** Sweeps every `sweepEveryMs` until stopped; the timer keeps no process alive. */
  start(): void;
  /** Waits for a sweep that runs. Ends no agreement: that is `endFor(agentId, 'shutdown')`. */
  stop(): Promise<void>;
}
