import { createServer } from 'node:net';
import { hostname } from 'node:os';
import {
  closeRedis,
  connectRedis,
  createMetrics,
  redisTarget,
  type Logger,
  type Metrics,
  type Readiness,
  type RunnableService,
  type ShutdownPhase,
} from '@parley/service-kit';
import type { DelegateRequest, DelegateResult } from '../a2a/delegate/index.js';
import type { TaskExecutor } from '../a2a/task-executor.js';
import type { Redis } from 'ioredis';
import { Agent } from '../agent/agent.js';
import type { AgentIdentity } from '../agent/agent-options.js';
import { agentHashTag } from '../agreements/redis-keys.js';
import { createRedisAgreementStore } from '../agreements/redis-store.js';
import type { KeeperMetrics } from '../agreements/index.js';
import type { LeaseEvent } from '../lease/index.js';
import type { Skill } from '../skill.js';
import type { AgentConfig } from './agent-config.js';
import { joinReplicas, type ReplicaGroup } from './replica-group.js';
import { serveAgent, type ServedAgent } from './serve-agent.js';
import { serveTasks, type ServedTasks, type TaskExecutorFactory } from './serve-tasks.js';

/** How long an agent waits for its store before it registers without. */
const STORE_WAIT_MS = 5_000;

export interface AgentServiceOptions {
  readonly config: AgentConfig;
  readonly logger: Logger;
  readonly skills: readonly Skill[];
  readonly version?: string;
  /** Who does A2A tasks, and calls with them; without it A2A is not served and the skills do calls themselves. */
  readonly tasks?: TaskExecutorFactory;
  /** True if no model is behind the tasks; the card says so. */
  readonly offline?: boolean;
}

export interface AgentServiceHandle extends RunnableService {
  /** Set once started. */
  readonly agent: Agent;
  readonly httpPort: number;
  readonly grpcPort: number;
}

/** An agent as a process: served on its ports, registered and kept registered, stopped in phases. */
export function createAgentService(options: AgentServiceOptions): AgentServiceHandle {
  return new AgentService(options);
}

class AgentService implements AgentServiceHandle {
  readonly logger: Logger;
  httpPort = 0;
  grpcPort = 0;
  readonly #config: AgentConfig;
  readonly #options: AgentServiceOptions;
  readonly #metrics: Metrics;
  readonly #redis: ReturnType<typeof connectRedis> | undefined;
  readonly #leaseEvents: (event: LeaseEvent) => void;
  readonly #keeperMetrics: KeeperMetrics;
  readonly #calls: ReturnType<typeof agentMetrics>['calls'];
  readonly #executor: TaskExecutor | undefined;
  #agent: Agent | undefined;
  #served: ServedAgent | undefined;
  #tasks: ServedTasks | undefined;
  #replicas: ReplicaGroup | undefined;
  #othersLive = false;
  #registered = false;
  #draining = false;
  readonly #registering = new AbortController();

  constructor(options: AgentServiceOptions) {
    const { config, logger } = options;
    this.logger = logger;
    this.#config = config;
    this.#options = options;
    this.#metrics = createMetrics({ service: config.AGENT_ID });
    const redis = redisTarget(config);
    const name = config.AGENT_ID;
    this.#redis =
      redis === undefined ? undefined : connectRedis({ ...redis, name, logger, hashTag: agentHashTag(name) });
    const { negotiations, ends, leases, calls } = agentMetrics(this.#metrics);
    this.#keeperMetrics = {
      onNegotiation: (outcome, reason) => {
        negotiations.inc({ outcome, reason: reason ?? '' });
      },
      onEnd: (reason) => {
        ends.inc({ reason });
      },
    };
    this.#leaseEvents = ({ type }) => {
      leases.inc({ type });
      if (type === 'registered' || type === 'renewed') this.#registered = true;
      if (type === 'lost' || type === 'taken' || type === 'unhealthy') this.#registered = false;
    };
    this.#calls = calls;
    // Before the agent that it hands work on for: whatever is wrong with it is wrong before anything is opened.
    this.#executor = options.tasks?.({
      delegate: (request) => this.#handOn(request),
      metrics: this.#metrics,
    });
  }

  get agent(): Agent {
    if (this.#agent === undefined) throw new Error('the agent has not started');
    return this.#agent;
  }

  async start(): Promise<void> {
    const config = this.#config;
    // Port 0 is known only after listening, and the manifest names the port: so an agent on a free port learns it first.
    const httpPort = config.AGENT_HTTP_PORT === 0 ? await freePort(config.AGENT_HOST) : config.AGENT_HTTP_PORT;
    const endpoint = config.AGENT_PUBLIC_URL?.replace(/\/+$/, '') ?? `http://127.0.0.1:${String(httpPort)}`;
    const agent = this.#createAgent(endpoint);
    this.#agent = agent;
    this.#observe(agent);
    this.#tasks = this.#serveTasks(agent, endpoint);
    this.#replicas = this.#joinReplicas(httpPort);
    await this.#recoverTasks();
    this.#served = await serveAgent(agent, {
      ...(this.#tasks === undefined ? {} : { a2a: this.#tasks.server }),
      httpPort,
      grpcPort: config.AGENT_GRPC_PORT,
      host: config.AGENT_HOST,
      registryUrl: config.AGENT_REGISTRY_URL,
      operatorToken: config.AGENT_OPERATOR_TOKEN,
      logger: this.logger,
      metrics: this.#metrics,
      readiness: () => this.#readiness(),
    });
    this.httpPort = this.#served.httpPort;
    this.grpcPort = this.#served.grpcPort ?? 0;
    this.logger.info(`${agent.agentId} listens on http ${String(this.httpPort)} and grpc ${String(this.grpcPort)}`, {
      http_port: this.httpPort,
      grpc_port: this.grpcPort,
      capabilities: agent.manifest.capabilities,
    });
    // The registry may come later; until then the agent serves and is not ready.
    void this.#prepareAndRegister(agent);
  }

  async #handOn(request: DelegateRequest): Promise<DelegateResult> {
    if (this.#tasks === undefined) throw new Error('the agent has not started');
    return this.#tasks.delegate(request);
  }

  #joinReplicas(httpPort: number): ReplicaGroup | undefined {
    if (this.#redis === undefined) return undefined;
    const member = `${hostname()}:${String(httpPort)}`;
    return joinReplicas({ redis: this.#redis, agentId: this.#config.AGENT_ID, member });
  }

  #serveTasks(agent: Agent, publicUrl: string): ServedTasks | undefined {
    const { skills, offline = false, version = '0.1.0' } = this.#options;
    const executor = this.#executor;
    if (executor === undefined) return undefined;
    const config = this.#config;
    return serveTasks({
      agent,
      config,
      skills,
      executor,
      offline,
      version,
      publicUrl,
      grpcTarget: grpcTarget(config),
      redis: this.#redis,
      logger: this.logger,
      metrics: this.#metrics,
    });
  }

  /** What an earlier process left unfinished is told as failed; a store that is away does not keep the agent down. */
  async #recoverTasks(): Promise<void> {
    try {
      const failed = (await this.#tasks?.engine.recover()) ?? 0;
      if (failed > 0) this.logger.warn(`${failed} tasks were left unfinished and have failed`, { tasks: failed });
    } catch (error) {
      this.logger.warn('Unfinished tasks could not be looked for', { error });
    }
  }

  /** Whoever finds the agent may expect work at its usual pace. */
  async #prepareAndRegister(agent: Agent): Promise<void> {
    for (const { capability, prepare } of this.#options.skills) {
      try {
        await prepare?.();
      } catch (error) {
        this.logger.warn(`${capability} could not be prepared; its first run will show why`, { error });
      }
    }
    if (this.#redis !== undefined) await untilReady(this.#redis, STORE_WAIT_MS, this.#registering.signal);
    await this.#register(agent);
  }

  async #register(agent: Agent): Promise<void> {
    try {
      await agent.register(this.#config.AGENT_REGISTRY_URL, { signal: this.#registering.signal });
    } catch (error) {
      if (!this.#registering.signal.aborted) this.logger.error('The registry refuses this agent', { error });
    }
  }

  #createAgent(endpoint: string): Agent {
    const config = this.#config;
    return new Agent({
      manifest: identity(config, endpoint, this.#options),
      skills: this.#options.skills,
      ...(this.#executor === undefined ? {} : { executor: this.#executor }),
      logger: this.logger,
      settings: { maxConcurrentCalls: config.AGENT_MAX_CONCURRENT_CALLS },
      peer: { allowPrivateAddresses: config.AGENT_ALLOW_PRIVATE_TARGETS },
      keeper: {
        settings: {
          maxAgreements: config.AGENT_MAX_AGREEMENTS,
          agreementTtlSeconds: config.AGENT_AGREEMENT_TTL_SECONDS,
        },
        metrics: this.#keeperMetrics,
        ...(this.#redis === undefined
          ? {}
          : { store: createRedisAgreementStore({ redis: this.#redis, agentId: config.AGENT_ID }) }),
      },
      ...(config.AGENT_OWNER_TOKEN === undefined ? {} : { ownerToken: config.AGENT_OWNER_TOKEN }),
      ...(config.AGENT_JOIN_TOKEN === undefined ? {} : { joinToken: config.AGENT_JOIN_TOKEN }),
    });
  }

  #observe(agent: Agent): void {
    agent.on('lease', this.#leaseEvents);
    agent.on('call', ({ capability, ok, durationMs }) => {
      this.#calls.observe({ capability, ok: String(ok) }, durationMs / 1_000);
    });
    this.#metrics.gauge('parley_agreements_living', 'Agreements of this agent as responder that have not ended.', () =>
      agent.keeper.countLiving(),
    );
    this.#metrics.gauge(
      'parley_agreements_held',
      'Living agreements of this agent as initiator.',
      () => agent.agreements.size,
    );
  }

  #readiness(): Readiness {
    const registry = this.#registered ? 'registered' : 'not registered';
    return {
      ready: this.#registered && !this.#draining,
      checks: { registry, draining: this.#draining ? 'yes' : 'no' },
    };
  }

  shutdownPhases(): readonly ShutdownPhase[] {
    const delayMs = this.#config.AGENT_DRAIN_DELAY_MS;
    return [
      {
        name: 'not ready, deregistered',
        timeoutMs: 4_000,
        run: async () => {
          this.#draining = true;
          this.#registering.abort();
          this.#served?.drain();
          this.#othersLive = (await this.#replicas?.leave()) ?? false;
          // With nobody left, nobody could do what is begun now. Others keep the registration and all that is agreed;
          // until its clients have gone over to them this one goes on as before.
          if (!this.#othersLive) await this.#agent?.leave();
        },
      },
      {
        name: 'partners notice',
        timeoutMs: delayMs + 500,
        run: () => new Promise((done) => setTimeout(done, delayMs)),
      },
      {
        name: 'requests in flight',
        timeoutMs: 11_000,
        run: async () => {
          const left = this.#agent?.leave({ deregister: !this.#othersLive });
          // Streams are requests that end with their tasks.
          await Promise.all([left, this.#tasks?.close(5_000), this.#served?.close(10_000)]);
        },
      },
      {
        name: 'agreements',
        timeoutMs: 7_500,
        run: async () => {
          await Promise.all([this.#agent?.stop(), ...this.#options.skills.map((skill) => skill.close?.())]);
        },
      },
      { name: 'store', timeoutMs: 1_500, run: () => (this.#redis === undefined ? undefined : closeRedis(this.#redis)) },
    ];
  }
}

/** Where others reach the gRPC port, as far as that is known. */
function grpcTarget(config: AgentConfig): string | undefined {
  if (config.AGENT_PUBLIC_GRPC !== undefined) return config.AGENT_PUBLIC_GRPC;
  if (config.AGENT_PUBLIC_URL !== undefined || config.AGENT_GRPC_PORT === 0) return undefined;
  return `127.0.0.1:${config.AGENT_GRPC_PORT}`;
}

function identity(
  config: AgentConfig,
  endpoint: string,
  { version, tasks }: Pick<AgentServiceOptions, 'version' | 'tasks'>,
): AgentIdentity {
  const labels = Object.fromEntries(
    (config.AGENT_LABELS?.split(',') ?? []).map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  return {
    agentId: config.AGENT_ID,
    name: config.AGENT_NAME,
    endpoint,
    ttlSeconds: config.AGENT_TTL_SECONDS,
    ...(version === undefined ? {} : { version }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    interfaces: [
      { protocol: 'negotiation-http', version: 'v1', url: endpoint },
      ...(tasks === undefined ? [] : [{ protocol: 'a2a', version: '1.0', url: `${endpoint}/a2a` }]),
      ...(config.AGENT_PUBLIC_GRPC === undefined
        ? []
        : [{ protocol: 'negotiation-grpc', version: 'v1', url: `http://${config.AGENT_PUBLIC_GRPC}` }]),
    ],
  };
}

function agentMetrics(metrics: Metrics) {
  return {
    negotiations: metrics.counter('parley_negotiations_total', 'Negotiations answered, by outcome.', [
      'outcome',
      'reason',
    ]),
    ends: metrics.counter(
      'parley_agreements_ended_total',
      'Agreements of this agent as responder that ended, by reason.',
      ['reason'],
    ),
    leases: metrics.counter('parley_lease_events_total', 'What happened to the registration.', ['type']),
    calls: metrics.histogram('parley_call_seconds', 'Pieces of work under agreements.', ['capability', 'ok']),
  };
}

/** Whoever finds the agent may expect it to agree. A store that stays away does not keep it unfound for ever. */
async function untilReady(redis: Redis, timeoutMs: number, signal: AbortSignal): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const done = () => resolve(undefined);
  const timer = setTimeout(done, timeoutMs);
  signal.addEventListener('abort', done, { once: true });
  redis.once('ready', done);
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', done);
  redis.off('ready', done);
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
