import { createPeerHttp, type PeerHttp } from '@parley/agent';
import { contract } from '@parley/proto';
import {
  createGrpcServer,
  createHttpServer,
  createMetrics,
  mountOperations,
  openApiDocument,
  redisTarget,
  type Logger,
  type Readiness,
  type RunnableService,
  type RunningGrpcServer,
  type RunningHttpServer,
  type ShutdownPhase,
} from '@parley/service-kit';
import { registryOperations, type RegistryOperations } from './api/operations.js';
import type { RegistryConfig } from './config.js';
import { registryBinding } from './grpc/binding.js';
import { registryRoutes } from './http/routes.js';
import { mountWatch } from './http/watch-route.js';
import { mountWebPage } from './http/web-page.js';
import { registryMetrics, type RegistryMetrics } from './metrics.js';
import type { RegistryCore } from './replica/core-types.js';
import { createRegistryCore } from './replica/registry-core.js';
import { createStore, guardSettings } from './store/create-store.js';
import type { RegistryStore } from './store/store.js';
import { timedStore } from './store/timed-store.js';

export interface RegistryServiceOptions {
  readonly config: RegistryConfig;
  readonly logger: Logger;
  /** Default: by the configuration, Redis or memory. */
  readonly store?: RegistryStore;
}

export interface RegistryService extends RunnableService {
  /** Where it listens, once started. */
  readonly httpPort: number;
  readonly grpcPort: number;
}

export function createRegistryService(options: RegistryServiceOptions): RegistryService {
  return new Registry(options);
}

class Registry implements RegistryService {
  readonly logger: Logger;
  httpPort = 0;
  grpcPort = 0;
  readonly #config: RegistryConfig;
  readonly #closing = new AbortController();
  readonly #store: RegistryStore;
  readonly #core: RegistryCore;
  readonly #peer: PeerHttp;
  readonly #operations: RegistryOperations;
  readonly #metrics: RegistryMetrics;
  readonly #http: RunningHttpServer;
  readonly #grpc: RunningGrpcServer;
  #draining = false;

  constructor({ config, logger, store }: RegistryServiceOptions) {
    this.logger = logger;
    this.#config = config;
    const metrics = createMetrics({ service: 'registry' });
    this.#metrics = registryMetrics(metrics);
    this.#store = timedStore(store ?? createStore(config, logger), this.#metrics.store);
    this.#core = createRegistryCore({
      store: this.#store,
      logger,
      hooks: this.#metrics.hooks,
      settings: {
        minTtlMs: config.REGISTRY_MIN_TTL_SECONDS * 1_000,
        defaultTtlMs: config.REGISTRY_DEFAULT_TTL_SECONDS * 1_000,
        maxTtlMs: config.REGISTRY_MAX_TTL_SECONDS * 1_000,
        maxStaleMs: config.REGISTRY_MAX_STALE_SECONDS * 1_000,
        guard: guardSettings(config),
      },
    });
    this.#peer = createPeerHttp({
      allowPrivateAddresses: config.REGISTRY_ALLOW_PRIVATE_TARGETS,
      userAgent: 'parley-registry',
    });
    this.#operations = registryOperations({
      core: this.#core,
      logger,
      peer: this.#peer,
      now: Date.now,
      joinToken: config.REGISTRY_JOIN_TOKEN,
      operatorToken: config.REGISTRY_OPERATOR_TOKEN,
      maxConcurrent: config.REGISTRY_BROKER_MAX_CONCURRENT,
      maxWatchers: config.REGISTRY_MAX_WATCHERS,
      ...this.#metrics.operations,
    });
    this.#metrics.observe(this.#core, this.#operations.watch);
    const routes = registryRoutes(this.#operations);
    const document = openApiDocument({
      title: 'Parley registry',
      version: '0.1.0',
      description: 'Agents register under a lease, find each other by capability, and negotiate.',
      registry: contract,
      routes,
    });
    this.#http = createHttpServer({
      routes,
      logger,
      metrics,
      extend: (app) => {
        mountOperations(app, { metrics, readiness: () => this.#readiness(), openapi: () => document });
        mountWatch(app, { watch: this.#operations.watch, logger, closing: this.#closing.signal });
        mountWebPage(app, this.#core);
      },
    });
    this.#grpc = createGrpcServer({ services: [registryBinding(this.#operations)], logger, metrics });
  }

  #readiness(): Readiness {
    const status = this.#core.status();
    const store = status.state === 'live' ? 'ok' : status.state;
    return {
      ready: status.state === 'live' && !this.#draining,
      checks: { store, draining: this.#draining ? 'yes' : 'no' },
    };
  }

  async start(): Promise<void> {
    await this.#core.start();
    this.httpPort = await this.#http.listen(this.#config.REGISTRY_HTTP_PORT, this.#config.REGISTRY_HOST);
    this.grpcPort = await this.#grpc.listen(this.#config.REGISTRY_GRPC_PORT, this.#config.REGISTRY_HOST);
    this.#grpc.setServing(true);
    this.logger.info(`Registry listens on http ${String(this.httpPort)} and grpc ${String(this.grpcPort)}`, {
      http_port: this.httpPort,
      grpc_port: this.grpcPort,
      store: redisTarget(this.#config) === undefined ? 'memory' : 'redis',
    });
  }

  shutdownPhases(): readonly ShutdownPhase[] {
    const drainDelayMs = this.#config.REGISTRY_DRAIN_DELAY_MS;
    return [
      {
        name: 'not ready',
        timeoutMs: 1_000,
        run: () => {
          this.#draining = true;
          this.#http.drain();
          this.#grpc.setServing(false);
        },
      },
      {
        name: 'load balancers notice',
        timeoutMs: drainDelayMs + 500,
        run: () => new Promise((done) => setTimeout(done, drainDelayMs)),
      },
      {
        name: 'requests in flight',
        timeoutMs: 11_000,
        run: async () => {
          this.#closing.abort();
          await Promise.all([this.#http.close(10_000), this.#grpc.close(10_000)]);
        },
      },
      { name: 'outgoing calls', timeoutMs: 1_000, run: () => this.#peer.close() },
      {
        name: 'store',
        timeoutMs: 3_000,
        run: async () => {
          await this.#core.stop();
          await this.#store.close();
        },
      },
    ];
  }
}
