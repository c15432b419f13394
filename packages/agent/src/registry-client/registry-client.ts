import type { Agreement } from '../wire/agreement.js';
import type { Manifest } from '../wire/manifest.js';
import type {
  BrokerNegotiationRequest,
  BrokerNegotiationResponse,
  DiscoveryResponse,
  GetAgentResponse,
  Lease,
  ListAgentsResponse,
  RegisterResponse,
  ReportAgreementResponse,
  WatchEvent,
} from './wire.js';

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Longest time for one attempt at one registry. Default: the client's. */
  readonly timeoutMs?: number;
}

export interface OwnerCallOptions extends CallOptions {
  /** The secret of whoever registered the agent, at least 22 characters. */
  readonly ownerToken: string;
}

export interface RegisterOptions extends CallOptions {
  /** Shown as bearer: becomes the owner token at a first registration, proves ownership at a later one. */
  readonly ownerToken?: string;
}

export type DiscoveryOrder = 'id' | 'freshest' | 'random';

export interface ListOptions extends CallOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** 1-1,000, default 100. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: DiscoveryOrder;
}

export interface DiscoverOptions extends ListOptions {
  /** Agent ids that are left out. */
  readonly exclude?: readonly string[];
  /** Adds `near_misses`: who did not match, and why. */
  readonly explain?: boolean;
}

export interface WatchOptions {
  /** Ends the watch; it ends for no other reason. */
  readonly signal: AbortSignal;
  /** Only events of these agents. Default: all. */
  readonly agentIds?: readonly string[];
  /** Resume after this revision instead of beginning with a snapshot. */
  readonly afterRevision?: number;
  /** Told once when the connection was lost (with the cause), or cannot be made, and once when it stands (again). */
  readonly onConnection?: (up: boolean, cause?: unknown) => void;
}

/**
 * What an agent needs of a registry, over either transport. Speaks the wire's own field names.
 * Every method throws AppError: the registry's own problem with its code, or the client's `peer_...` codes.
 */
export interface RegistryClient {
  /** For logs: where the registry is. */
  readonly target: string;
  register(manifest: Manifest, options: RegisterOptions): Promise<RegisterResponse>;
  /** @throws AppError not_found `lease_unknown`: register in full; unavailable: keep the lease and ask again. */
  renew(agentId: string, options: OwnerCallOptions): Promise<Lease>;
  deregister(agentId: string, options: OwnerCallOptions): Promise<void>;
  discover(requiredCapabilities: readonly string[], options: DiscoverOptions): Promise<DiscoveryResponse>;
  list(options: ListOptions): Promise<ListAgentsResponse>;
  get(agentId: string, options: CallOptions): Promise<GetAgentResponse>;
  /**
   * A snapshot, then every change in order, nothing twice; reconnects by itself with backoff and resumes where it was.
   * A `snapshot` after the first means that changes may have been missed.
   */
  watch(options: WatchOptions): AsyncIterable<WatchEvent>;
  brokerNegotiation(request: BrokerNegotiationRequest, options: CallOptions): Promise<BrokerNegotiationResponse>;
  /** As the responder: tells the witness what became of an agreement. */
  reportAgreement(agreement: Agreement, options: OwnerCallOptions): Promise<ReportAgreementResponse>;
  /** Ends connections; a watch ends by its own signal. */
  close(): Promise<void>;
}
