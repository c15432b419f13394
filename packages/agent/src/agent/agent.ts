import { AppError, quoteList, silentLogger, type Logger } from '@parley/service-kit';
import {
  createAgreementKeeper,
  type AgreementEvent,
  type AgreementKeeper,
  type NegotiationCaller,
} from '../agreements/index.js';
import {
  AgreementBook,
  httpResponderClient,
  invokeUnder,
  type Accepted,
  type AgreementHandle,
  type InvokeOptions,
  type InvokeResponse,
  type NegotiationResult,
  type ResponderClient,
} from '../initiator/index.js';
import { offeredCapabilities } from '../negotiation/match-capabilities.js';
import { createPeerHttp, type PeerHttp } from '../peer/index.js';
import type { RegisteredAgent } from '../registry-client/index.js';
import type { Scalar } from '../skill.js';
import type { Agreement, EndReason, InvokeRequest } from '../wire/agreement.js';
import type { NegotiationResponse } from '../wire/answers.js';
import type { Manifest } from '../wire/manifest.js';
import type { NegotiationRequest } from '../wire/negotiation.js';
import { manifestOf } from './agent-manifest.js';
import {
  DEFAULT_AGENT_SETTINGS,
  type AgentDiscoverOptions,
  type AgentEvents,
  type AgentOptions,
  type AgentSettings,
  type DirectNegotiateOptions,
  type NegotiateAnyOptions,
  type NegotiateThroughOptions,
  type RegisterAgentOptions,
} from './agent-options.js';
import { BackgroundWork } from './background-work.js';
import { CallRunner, type InvokeCaller } from './call-runner.js';
import { EndNotifier } from './end-notifier.js';
import { Negotiator } from './negotiator.js';
import { namesOf } from './names-of.js';
import { Partners } from './partners.js';
import { Registries } from './registries.js';
import type { LeaveOptions } from './registry-link.js';
import { skillExecutor } from './skill-executor.js';
import { TypedEvents } from './typed-events.js';

type Parameters = Readonly<Record<string, Scalar>>;

/** Each farewell when an agent stops: to partners, to the witness, to the registry. */
const FAREWELL_MS = 1_000;

/**
 * One agent: registers and stays registered, finds others by what they can do, agrees with them in both roles, lets them
 * work and works for them. Several may live in one process. Serves nothing by itself: a server calls `handleNegotiation`,
 * `handleInvoke`, `keeper` and `agreements.peerEnded`.
 */
export class Agent {
  readonly manifest: Manifest;
  /** As responder: every agreement that is kept here. */
  readonly keeper: AgreementKeeper;
  /** As initiator: every agreement that is held. */
  readonly agreements: AgreementBook;

  readonly #options: AgentOptions;
  readonly #settings: AgentSettings;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #http: PeerHttp;
  readonly #responder: ResponderClient;
  readonly #negotiator: Negotiator;
  readonly #calls: CallRunner;
  readonly #events: TypedEvents<AgentEvents>;
  readonly #partners: Partners;
  readonly #endNotifier: EndNotifier;
  readonly #registries: Registries;
  readonly #background = new BackgroundWork();
  readonly #stopping = new AbortController();
  #left: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;

  /** @throws AppError invalid_request when the manifest is not valid. */
  constructor(options: AgentOptions) {
    this.#options = options;
    this.#settings = { ...DEFAULT_AGENT_SETTINGS, ...options.settings };
    const skills = options.skills ?? [];
    this.manifest = manifestOf(options.manifest, skills);
    const logger = (options.logger ?? silentLogger).child({ actor: this.agentId });
    this.#logger = logger;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#events = new TypedEvents(logger);
    this.#http = createPeerHttp({ userAgent: `parley-agent/${this.agentId}`, ...options.peer });
    this.#responder = httpResponderClient(this.#http);
    const offered = offeredCapabilities(this.manifest);
    this.keeper = createAgreementKeeper({
      ...options.keeper,
      agentId: this.agentId,
      capabilities: () => offered,
      logger,
      now: this.#now,
    });
    this.agreements = new AgreementBook({ logger, maxAgreements: this.#settings.maxAgreements });
    this.#negotiator = new Negotiator({
      book: this.agreements,
      settings: this.#settings,
      logger,
      deps: {
        self: this.agentId,
        responder: this.#responder,
        logger,
        now: this.#now,
        random: this.#random,
        background: (work) => {
          this.#background.add(work);
        },
      },
    });
    this.#calls = new CallRunner({
      keeper: this.keeper,
      skills,
      executor: options.executor ?? skillExecutor(skills),
      settings: this.#settings,
      logger,
      now: this.#now,
      onCall: (event) => {
        this.#events.emit('call', event);
      },
    });
    this.#endNotifier = new EndNotifier({
      http: this.#http,
      registry: () => this.#registries.first,
      logger,
      random: this.#random,
    });
    this.#partners = new Partners({
      self: this.agentId,
      keeper: this.keeper,
      book: this.agreements,
      logger,
      absenceGraceMs: this.#settings.absenceGraceMs,
      sharedStore: options.keeper?.store !== undefined,
      onConnection: (registry, up) => {
        this.#events.emit('watch', { registry, up });
      },
    });
    this.#registries = new Registries({
      options,
      manifest: this.manifest,
      keeper: this.keeper,
      background: this.#background,
      logger,
      now: this.#now,
      random: this.#random,
      onLease: (event, registry) => {
        this.#events.emit('lease', { ...event, registry });
      },
      onClient: (client) => {
        // The first registry is the one whose registrations agreements are bound to.
        this.#partners.watchAt(client);
      },
    });
    this.keeper.onEvent((event) => {
      this.#kept(event);
    });
    this.agreements.onAdd((agreement) => {
      this.#held(agreement);
    });
    this.keeper.start();
  }

  get agentId(): string {
    return this.manifest.agent_id;
  }

  /**
   * Registers at a registry and stays registered until `stop`. Resolves with the first registration, which it tries for
   * ever: until then the registry may be away, or the id taken.
   * @param registryUrl several doors to one registry are separated by commas.
   * @throws AppError when the registry refuses for good, or `options.signal` is aborted (the trying ends then).
   */
  async register(registryUrl: string, options: RegisterAgentOptions = {}): Promise<void> {
    this.#ensureRunning();
    await this.#registries.register(registryUrl, options.signal);
  }

  /**
   * Living agents that have all of the capabilities (`name` or `name@range`), without this one.
   * @throws AppError when the registry cannot be asked or refuses.
   */
  async discover(
    registryUrl: string,
    requiredCapabilities: readonly string[],
    options: AgentDiscoverOptions = {},
  ): Promise<readonly RegisteredAgent[]> {
    this.#ensureRunning();
    const { includeSelf = false, exclude = [], signal, ...rest } = options;
    const answer = await this.#registries.client(registryUrl).discover(requiredCapabilities, {
      ...rest,
      exclude: includeSelf ? exclude : [...exclude, this.agentId],
      signal: this.#signal(signal),
    });
    // A registry that leaves nobody out would let an agent find itself.
    const agents = answer.agents.filter(({ agent_id }) => includeSelf || agent_id !== this.agentId);
    this.#logger.step('discover', `Discover for ${quoteList(requiredCapabilities)} -> found ${namesOf(agents)}`, {
      required_capabilities: requiredCapabilities,
      found: agents.length,
    });
    return agents;
  }

  /**
   * Negotiates with one responder. No agreement is a normal outcome; only misuse throws.
   * @param targetUrl the responder's endpoint.
   */
  async negotiate(
    targetUrl: string,
    capabilities: readonly string[],
    parameters: Parameters = {},
    options: DirectNegotiateOptions = {},
  ): Promise<NegotiationResult> {
    this.#ensureRunning();
    return this.#negotiator.direct(targetUrl, capabilities, parameters, options, this.#signal(options.signal));
  }

  /**
   * Discovers candidates and negotiates with them, in random order, until one agrees.
   * @throws NegotiationFailed listing every attempt; AppError when the registry cannot be asked.
   */
  async negotiateFirst(
    registryUrl: string,
    capabilities: readonly string[],
    parameters: Parameters = {},
    options: NegotiateAnyOptions = {},
  ): Promise<Accepted> {
    this.#ensureRunning();
    const signal = this.#signal(options.signal);
    const agents = await this.discover(registryUrl, capabilities, {
      order: 'random',
      // Those that are preferred must not be missed by the draw.
      limit: options.prefer === undefined || options.prefer.length === 0 ? RANDOM_CANDIDATES : 1_000,
      signal,
      ...(options.labels === undefined ? {} : { labels: options.labels }),
      ...(options.exclude === undefined ? {} : { exclude: options.exclude }),
    });
    const candidates = agents.map(({ agent_id: agentId, endpoint }) => ({ agentId, endpoint }));
    return this.#negotiator.first(candidates, capabilities, parameters, options, signal);
  }

  /**
   * Lets the registry find a responder and pass the proposal on; everything after its answer goes to the responder directly.
   * @throws NegotiationFailed listing every attempt; AppError when the registry cannot be asked or refuses.
   */
  async negotiateThrough(
    registryUrl: string,
    capabilities: readonly string[],
    parameters: Parameters = {},
    options: NegotiateThroughOptions = {},
  ): Promise<Accepted> {
    this.#ensureRunning();
    const client = this.#registries.client(registryUrl);
    return this.#negotiator.through(client, capabilities, parameters, options, this.#signal(options.signal));
  }

  /** As responder: answers a request that was checked with `negotiationRequest`. @throws AppError as the keeper does. */
  async handleNegotiation(request: NegotiationRequest, caller: NegotiationCaller = {}): Promise<NegotiationResponse> {
    this.#ensureRunning();
    return this.keeper.negotiate(request, caller);
  }

  /** Lets the responder of an agreement work. @throws AppError as {@link invokeUnder} does. */
  async invoke(
    agreement: AgreementHandle,
    capability: string,
    input: Readonly<Record<string, unknown>>,
    options: InvokeOptions = {},
  ): Promise<InvokeResponse> {
    return invokeUnder(this.#responder, agreement, capability, input, {
      ...options,
      signal: this.#signal(options.signal),
    });
  }

  /** As responder: does a piece of work that was asked for, checked with `invokeRequest`. @throws AppError */
  async handleInvoke(request: InvokeRequest, caller: InvokeCaller): Promise<InvokeResponse> {
    this.#ensureRunning();
    return this.#calls.handle(request, caller);
  }

  /**
   * The other party of an agreement, in whichever role, ends it. Idempotent: answers the first recorded reason.
   * @throws AppError `not_found`/`agreement_unknown`, also for whoever is no party.
   */
  async handleEnd(
    agreementId: string,
    input: { proof: string | undefined; reason?: EndReason | undefined },
  ): Promise<Agreement> {
    const isHeld = this.agreements.get(agreementId) !== undefined;
    return isHeld ? this.agreements.peerEnded(agreementId, input) : this.keeper.end(agreementId, input);
  }

  /** Returns a function that takes the listener back. */
  on<K extends keyof AgentEvents>(event: K, listener: (payload: AgentEvents[K]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** Takes on nothing new, ends the agreements kept here and deregisters; what runs goes on until `stop`. Never throws. */
  leave(options: LeaveOptions = {}): Promise<void> {
    return (this.#left ??= this.#leave(options));
  }

  async #leave(options: LeaveOptions): Promise<void> {
    const isShared = this.#options.keeper?.store !== undefined;
    await Promise.allSettled([isShared ? undefined : this.keeper.endFor(this.agentId, 'shutdown')]);
    await this.#registries.leave(FAREWELL_MS, options);
  }

  /**
   * Leaves, if it has not yet, gives up what it asked of others, ends agreements, lets running calls finish (`drainMs`)
   * and closes all connections. Bounded, whoever is away; never throws. Agreements in a store that others share stay.
   */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#stopping.abort(new AppError('unavailable', 'The agent is shutting down.', { code: 'shutting_down' }));
    this.#partners.stop();
    await Promise.allSettled([this.leave(), this.agreements.endAll('shutdown', FAREWELL_MS)]);
    await Promise.allSettled([
      this.#endNotifier.stop(FAREWELL_MS),
      this.#calls.stop(this.#settings.drainMs),
      this.#background.settle(FAREWELL_MS),
    ]);
    await Promise.allSettled([this.keeper.stop(), this.#registries.close()]);
    await this.#http.close();
    this.#events.clear();
  }

  #kept({ type, agreement, ...event }: AgreementEvent): void {
    this.#registries.report(agreement);
    if (type === 'ended') this.#endNotifier.ended({ type, agreement, ...event });
    this.#events.emit('agreement', { role: 'responder', type, agreement });
  }

  #held(agreement: AgreementHandle): void {
    const emit = (type: 'agreed' | 'ended', snapshot: Agreement): void => {
      this.#events.emit('agreement', { role: 'initiator', type, agreement: snapshot });
    };
    emit('agreed', agreement.snapshot());
    agreement.onEnd(() => {
      emit('ended', agreement.snapshot());
    });
  }

  #signal(own: AbortSignal | undefined): AbortSignal {
    return own === undefined ? this.#stopping.signal : AbortSignal.any([own, this.#stopping.signal]);
  }

  #ensureRunning(): void {
    if (this.#left !== undefined || this.#stopping.signal.aborted) {
      throw new AppError('unavailable', 'The agent is shutting down.', { code: 'shutting_down' });
    }
  }
}

/** More than are ever asked, so that those in the penalty box can be passed over. */
const RANDOM_CANDIDATES = 32;
