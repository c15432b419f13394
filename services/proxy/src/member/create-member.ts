import { Agent, type AgentIdentity, type KeeperMetrics } from '@parley/agent';
import type { Logger, Metrics, Readiness, ShutdownPhase } from '@parley/service-kit';
import { Router } from 'express';
import type { ProxyEngine } from '../engine/index.js';
import { agentEndpoints, type AgentEndpoints } from './agent-endpoints.js';
import { claimRoute } from './claim-route.js';
import { serveCurrent, type ServedCurrent } from './current/serve-current.js';
import { DriverLease } from './driver-lease.js';
import { memberMetrics } from './member-metrics.js';
import { PLAYABLE, PLAYABLE_DETAIL } from './playable.js';

export interface MemberOptions {
  readonly engine: ProxyEngine;
  readonly agentId: string;
  /** One registry, or several separated by commas; undefined: the proxy registers nowhere and agrees with nobody. */
  readonly registryUrl: string | undefined;
  /** Under which others reach the proxy. Default: the loopback address with the port. */
  readonly publicUrl?: string | undefined;
  readonly host: string;
  /** Of the agreements' operations; 0 takes a free one. */
  readonly grpcPort: number;
  /** Lease of the registration to ask for. */
  readonly ttlSeconds: number;
  readonly ownerToken?: string | undefined;
  readonly joinToken?: string | undefined;
  /** Where set, listing agreements needs it as bearer. */
  readonly operatorToken?: string | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The proxy among agents: one of a registry that can be agreed with, and an agent of A2A 1.0 in any case. */
export interface ProxyMember {
  /** Asked before the proxy's own routes. */
  readonly router: Router;
  /** Undefined without a registry, and before `serving`. */
  readonly agent: Agent | undefined;
  readonly grpcPort: number | undefined;
  /** Called once the port is known; what comes before is served as if there were no member. @throws if the gRPC port is taken. */
  serving(httpPort: number): Promise<void>;
  /** Without a registry it is always ready. */
  readiness(): Readiness;
  readonly shutdownPhases: readonly ShutdownPhase[];
}

const GRPC_CLOSE_MS = 2_000;

export function createMember(options: MemberOptions): ProxyMember {
  return new Member(options);
}

class Member implements ProxyMember {
  readonly router = Router();
  readonly #lease: DriverLease;
  readonly #registering = new AbortController();
  #agent: Agent | undefined;
  #endpoints: AgentEndpoints | undefined;
  #grpcPort: number | undefined;
  #current: ServedCurrent | undefined;
  #isRegistered = false;

  constructor(private readonly options: MemberOptions) {
    this.#lease = new DriverLease(options.engine, options.logger);
  }

  get agent(): Agent | undefined {
    return this.#agent;
  }

  get grpcPort(): number | undefined {
    return this.#grpcPort;
  }

  async serving(httpPort: number): Promise<void> {
    const { publicUrl, registryUrl, engine, agentId, logger, metrics } = this.options;
    const endpoint = publicUrl?.replace(/\/+$/u, '') ?? `http://127.0.0.1:${httpPort}`;
    // All of it before the first pause: no request finds half of it.
    this.#current = serveCurrent({ engine, agentId, publicUrl: endpoint, logger, metrics });
    this.router.use(this.#current.handler);
    if (registryUrl !== undefined) this.#join(registryUrl, endpoint);
    await this.#lease.releaseForgotten();
    if (this.#endpoints === undefined) return;
    this.#grpcPort = await this.#endpoints.grpc.listen(this.options.grpcPort, this.options.host);
    this.#endpoints.grpc.setServing(true);
    this.options.logger.info(`Proxy agrees with drivers as ${agentId}, also on grpc ${this.#grpcPort}`, {
      agent_id: agentId,
      grpc_port: this.#grpcPort,
    });
  }

  readiness(): Readiness {
    if (this.options.registryUrl === undefined) return { ready: true, checks: {} };
    const registry = this.#isRegistered ? 'registered' : 'not registered';
    return { ready: this.#isRegistered, checks: { registry } };
  }

  get shutdownPhases(): readonly ShutdownPhase[] {
    if (this.options.registryUrl === undefined) return [];
    return [
      {
        name: 'deregistered',
        timeoutMs: 2_500,
        run: async () => {
          this.#registering.abort();
          await this.#agent?.leave();
          await this.#lease.settled();
        },
      },
      {
        name: 'agreements',
        timeoutMs: 4_000,
        run: async () => {
          await Promise.all([this.#endpoints?.grpc.close(GRPC_CLOSE_MS), this.#agent?.stop()]);
        },
      },
    ];
  }

  #join(registryUrl: string, endpoint: string): void {
    const { operatorToken, logger, metrics } = this.options;
    const counted = memberMetrics(metrics);
    const agent = this.#makeAgent(endpoint, counted.keeper);
    this.#agent = agent;
    counted.observe(agent);
    this.#lease.follow(agent.keeper);
    this.#endpoints = agentEndpoints({ agent, lease: this.#lease, registryUrl, operatorToken, logger, metrics });
    this.router.use(claimRoute(this.#lease, logger, metrics), this.#endpoints.handler);
    agent.on('lease', ({ type }) => {
      counted.onLease(type);
      if (type === 'registered' || type === 'renewed') this.#isRegistered = true;
      if (type === 'lost' || type === 'taken') this.#isRegistered = false;
    });
    // The registry may come later; until then the proxy serves and is not ready.
    agent.register(registryUrl, { signal: this.#registering.signal }).catch((error: unknown) => {
      if (!this.#registering.signal.aborted) logger.error('The registry refuses this proxy', { error });
    });
  }

  #makeAgent(endpoint: string, metrics: KeeperMetrics): Agent {
    const { ownerToken, joinToken, logger } = this.options;
    return new Agent({
      manifest: this.#identity(endpoint),
      logger,
      keeper: { settings: { maxAgreements: 1 }, policy: this.#lease.policy, metrics },
      ...(ownerToken !== undefined && { ownerToken }),
      ...(joinToken !== undefined && { joinToken }),
    });
  }

  #identity(endpoint: string): AgentIdentity {
    const { agentId, ttlSeconds, engine } = this.options;
    return {
      agentId,
      endpoint,
      capabilities: { [PLAYABLE]: PLAYABLE_DETAIL },
      version: '1.0.0',
      labels: { shell: engine.hasShell ? 'on' : 'off' },
      ttlSeconds,
      interfaces: [
        { protocol: 'negotiation-http', version: 'v1', url: endpoint },
        { protocol: 'a2a', version: '1.0', url: `${endpoint}/a2a` },
        { protocol: 'a2a', version: '0.3', url: `${endpoint}/a2a` },
        { protocol: 'agentenv-proxy', version: 'v1', url: `${endpoint}/ext/proxy` },
      ],
    };
  }
}
