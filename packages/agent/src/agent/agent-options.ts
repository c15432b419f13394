import type { Logger } from '@parley/service-kit';
import type { TaskExecutor } from '../a2a/task-executor.js';
import type { AgreementEventType, AgreementKeeperOptions } from '../agreements/index.js';
import type { NegotiateOptions } from '../initiator/index.js';
import type { HealthCheck, LeaseEvent } from '../lease/index.js';
import type { PeerHttpOptions } from '../peer/index.js';
import type { DiscoverOptions, RegistryClient } from '../registry-client/index.js';
import type { CapabilityDetail, Skill } from '../skill.js';
import type { AgentInterface } from '../wire/manifest.js';
import type { Agreement } from '../wire/agreement.js';

/** Who the agent is. Its capabilities are those of its skills, and `capabilities` beside them. */
export interface AgentIdentity {
  /** 1-128 of `A-Z a-z 0-9 . _ -`, begins with a letter or digit. */
  readonly agentId: string;
  /** For people. Default: the id. */
  readonly name?: string;
  /** Where others reach it: absolute http(s) URL. */
  readonly endpoint: string;
  /** What is offered without a skill behind it: negotiated here, done elsewhere. */
  readonly capabilities?: readonly string[] | Readonly<Record<string, CapabilityDetail>>;
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly interfaces?: readonly AgentInterface[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Wished lease of the registration. Default: the registry's, 30. */
  readonly ttlSeconds?: number;
}

export interface AgentSettings {
  /** Calls that run at the same time; more are refused with 503. Default 16. */
  readonly maxConcurrentCalls: number;
  /** A call's work is aborted after it. Default 120,000. */
  readonly callDeadlineMs: number;
  /** Answers kept for repeated call ids: number, bytes, and time. Default 256, 8 MiB, 600,000. */
  readonly rememberedAnswers: number;
  readonly rememberedAnswerBytes: number;
  readonly rememberAnswerMs: number;
  /** One negotiation with one responder. Default 5,000. */
  readonly negotiationTimeoutMs: number;
  /** With fail-over, for one candidate. Default 2,000. */
  readonly candidateTimeoutMs: number;
  /** With fail-over, the next candidate is also asked after it. Default 500. */
  readonly hedgeMs: number;
  /** With fail-over, candidates asked at most. Default 8. */
  readonly maxCandidates: number;
  /** With fail-over, for everything. Default 15,000. */
  readonly negotiationTotalMs: number;
  /** A silent candidate is asked last for so long. Default 60,000. */
  readonly penaltyMs: number;
  /** Agreements held as initiator. Default 10,000. */
  readonly maxAgreements: number;
  /** A partner missing after the registry itself was away has so long to come back. Default 30,000. */
  readonly absenceGraceMs: number;
  /** How long `stop` waits for running calls. Default 5,000. */
  readonly drainMs: number;
}

export const DEFAULT_AGENT_SETTINGS: AgentSettings = {
  maxConcurrentCalls: 16,
  callDeadlineMs: 120_000,
  rememberedAnswers: 256,
  rememberedAnswerBytes: 8 * 1024 * 1024,
  rememberAnswerMs: 600_000,
  negotiationTimeoutMs: 5_000,
  candidateTimeoutMs: 2_000,
  hedgeMs: 500,
  maxCandidates: 8,
  negotiationTotalMs: 15_000,
  penaltyMs: 60_000,
  maxAgreements: 10_000,
  absenceGraceMs: 30_000,
  drainMs: 5_000,
};

/** Skills of different input in one list: the agent checks the input by each skill's own schema before it runs. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnySkill = Skill<any>;

export interface AgentOptions {
  readonly manifest: AgentIdentity;
  readonly skills?: readonly AnySkill[];
  /**
   * Who does what is called under agreements, as a task with the agreed parameters; its `output` is the answer. Default:
   * the skills themselves.
   */
  readonly executor?: TaskExecutor;
  /** Default: silent. */
  readonly logger?: Logger;
  readonly settings?: Partial<AgentSettings>;
  /** Of the responder's side: store, settings, policy. */
  readonly keeper?: Omit<AgreementKeeperOptions, 'agentId' | 'capabilities' | 'logger' | 'now'>;
  /** For calls to other agents and registries: timeouts, address rules. */
  readonly peer?: PeerHttpOptions;
  /** At least 22 characters: lets the agent replace itself at once after a crash. Default: random, for this process. */
  readonly ownerToken?: string;
  /** `REGISTRY_JOIN_TOKEN` of the registry, when it wants one. */
  readonly joinToken?: string;
  /** An agent that says no leaves the registry until it says yes. */
  readonly healthCheck?: HealthCheck;
  /** How a registry URL becomes a client. Default: `http(s)://` over HTTP, `grpc(s)://` over gRPC. */
  readonly registryClient?: (registryUrl: string) => RegistryClient;
  /** ms since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Default `Math.random`. */
  readonly random?: () => number;
}

export interface AgentEvents {
  /** The registration at one registry. */
  readonly lease: LeaseEvent & { readonly registry: string };
  /** An agreement changed; `initiator`: one that this agent holds, `responder`: one that it keeps. */
  readonly agreement: {
    readonly role: 'initiator' | 'responder';
    readonly type: AgreementEventType;
    readonly agreement: Agreement;
  };
  /** A call under an agreement was worked on here. */
  readonly call: {
    readonly agreementId: string;
    readonly capability: string;
    readonly callId: string;
    readonly ok: boolean;
    readonly durationMs: number;
  };
  /** The watch of the partners' registrations. */
  readonly watch: { readonly registry: string; readonly up: boolean };
}

export interface RegisterAgentOptions {
  readonly signal?: AbortSignal;
}

export interface AgentDiscoverOptions extends Partial<Omit<DiscoverOptions, 'explain' | 'cursor'>> {
  /** Also the agent itself, when it matches. Default false. */
  readonly includeSelf?: boolean;
}

export interface DirectNegotiateOptions extends NegotiateOptions {
  /** When the responder's id is known, nobody else's answer is taken. */
  readonly agentId?: string;
}

export interface NegotiateAnyOptions extends NegotiateOptions {
  /** For one candidate. */
  readonly candidateTimeoutMs?: number;
  /** At most so many are asked, 1-8 through a registry. */
  readonly maxCandidates?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Agent ids that are not asked. */
  readonly exclude?: readonly string[];
  /** Agent ids that are asked first, in this order, when they are among the candidates. */
  readonly prefer?: readonly string[];
}

export interface NegotiateThroughOptions extends NegotiateAnyOptions {
  /** Only this agent is asked. */
  readonly targetAgentId?: string;
}
