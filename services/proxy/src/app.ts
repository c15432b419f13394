import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type BoundedServer,
  createMetrics,
  type Logger,
  type Metrics,
  type Readiness,
  type RunnableService,
  type ShutdownPhase,
} from '@parley/service-kit';
import type { Router } from 'express';
import { a2aRoute, agentCard } from './a2a/index.js';
import { createToolCaller } from './actions/create-tool-caller.js';
import { listenAddress, type ProxyConfig } from './config.js';
import { createProxyEngine, type ProxyEngine } from './engine/index.js';
import {
  agentConfigRoutes,
  createHttpApp,
  createObjectStore,
  createProxyServer,
  driverRoutes,
  mcpConfigRoutes,
  type ObjectStore,
  skillRoutes,
  trajectoryRoutes,
} from './http/index.js';
import type { FactLog } from './journal/fact-log.js';
import { countingRecorder, observeEngine } from './metrics.js';
import { createParts } from './parts.js';
import type { Recorder } from './record/recorder-types.js';

/** What else is served on the proxy's port, beside what agentenv knows. */
export interface ProxyExtension {
  /** Asked before the proxy's own routes. */
  readonly router?: Router;
  /** Called once the proxy serves. */
  serving?(port: number): Promise<void>;
  /** What the proxy's readiness depends on besides. */
  readiness?(): Readiness;
  /** Run right after the proxy has told that it is not ready any more. */
  readonly shutdownPhases?: readonly ShutdownPhase[];
}

export interface ProxyAppOptions {
  /** Made when the engine has read its journal. */
  readonly extend?: (parts: { readonly engine: ProxyEngine; readonly metrics: Metrics }) => ProxyExtension;
}

export interface ProxyApp extends RunnableService {
  /** Where it listens, once started. */
  readonly httpPort: number;
}

const CLOSE_MS = 9_000;
const END_ACTIONS_MS = 8_000;
const FLUSH_MS = 2_800;

/** The proxy as a service: every part of it, from its journal to its port. */
export function createProxyApp(config: ProxyConfig, logger: Logger, options: ProxyAppOptions = {}): ProxyApp {
  return new App(config, logger, options);
}

class App implements ProxyApp {
  httpPort = 0;
  readonly #closing = new AbortController();
  readonly #metrics = createMetrics({ service: 'proxy' });
  #isServing = false;
  #isStopping = false;
  #log: FactLog | undefined;
  #recorder: Recorder | undefined;
  #engine: ProxyEngine | undefined;
  #store: ObjectStore | undefined;
  #server: BoundedServer | undefined;
  #extension: ProxyExtension = {};

  constructor(
    private readonly config: ProxyConfig,
    readonly logger: Logger,
    private readonly options: ProxyAppOptions,
  ) {}

  async start(): Promise<void> {
    const engine = await this.#startEngine();
    this.#extension = this.options.extend?.({ engine, metrics: this.#metrics }) ?? {};
    this.#server = createProxyServer({ app: this.#httpApp(engine) });
    const { host, port } = listenAddress(this.config);
    this.httpPort = await this.#server.listen(port, host);
    await this.#extension.serving?.(this.httpPort);
    this.#isServing = !this.#isStopping;
    this.logger.info(`Proxy listens on http ${String(this.httpPort)}`, {
      http_port: this.httpPort,
      shell: engine.hasShell,
      state: this.config.PROXY_STATE_DIR === undefined ? 'memory' : 'disk',
    });
  }

  async #startEngine(): Promise<ProxyEngine> {
    const { config, logger } = this;
    const cwd = resolve(config.PROXY_WORK_DIR ?? process.cwd());
    mkdirSync(cwd, { recursive: true });
    const { log, recorder, commands } = await createParts(config, logger, cwd);
    this.#log = log;
    this.#recorder = countingRecorder(recorder, this.#metrics);
    const engine = createProxyEngine({
      log,
      recorder: this.#recorder,
      commands,
      tools: createToolCaller({ logger }),
      logger,
      longPollMs: config.PROXY_LONG_POLL_SECONDS * 1_000,
      limits: {
        maxOpenTurns: config.PROXY_MAX_OPEN_TURNS,
        maxActionsPerTurn: config.PROXY_MAX_ACTIONS_PER_TURN,
        maxRunningCommands: config.PROXY_MAX_RUNNING_COMMANDS,
        maxKeptTasks: config.PROXY_MAX_TASKS,
      },
    });
    this.#engine = engine;
    await engine.start();
    observeEngine(engine, this.#metrics);
    return engine;
  }

  #httpApp(engine: ProxyEngine): ReturnType<typeof createHttpApp> {
    const { config, logger } = this;
    const store = createObjectStore();
    this.#store = store;
    const closing = this.#closing.signal;
    return createHttpApp({
      routes: [
        ...driverRoutes(engine),
        ...agentConfigRoutes(engine),
        ...mcpConfigRoutes(engine),
        ...skillRoutes({ engine, skillsFolder: join(process.env['HOME'] ?? homedir(), 'skills'), store, closing }),
        ...(this.#recorder === undefined ? [] : trajectoryRoutes({ recorder: this.#recorder, store, closing })),
      ],
      ownRoutes: [a2aRoute(engine, logger)],
      card: () => agentCard(engine),
      logger,
      metrics: this.#metrics,
      readiness: () => this.#readiness(),
      controlToken: config.PROXY_CONTROL_TOKEN,
      before: this.#extension.router,
    });
  }

  #readiness(): Readiness {
    const more = this.#extension.readiness?.() ?? { ready: true, checks: {} };
    return {
      ready: this.#isServing && more.ready,
      checks: { serving: this.#isServing ? 'yes' : 'no', ...more.checks },
    };
  }

  shutdownPhases(): readonly ShutdownPhase[] {
    const drainDelayMs = this.config.PROXY_DRAIN_DELAY_MS;
    return [
      {
        name: 'not ready',
        timeoutMs: 1_000,
        run: () => {
          this.#isStopping = true;
          this.#isServing = false;
          this.#server?.drain();
        },
      },
      ...(this.#extension.shutdownPhases ?? []),
      {
        name: 'load balancers notice',
        timeoutMs: drainDelayMs + 500,
        run: () => new Promise((done) => setTimeout(done, drainDelayMs)),
      },
      {
        name: 'actions and requests in flight',
        timeoutMs: CLOSE_MS + 1_000,
        // Those who wait are answered by the engine as it stops, on connections that close after that.
        run: async () => {
          this.#closing.abort();
          await Promise.all([this.#server?.close(CLOSE_MS), this.#engine?.close(END_ACTIONS_MS)]);
        },
      },
      { name: 'transfers', timeoutMs: 1_000, run: () => this.#store?.close() },
      { name: 'trajectories', timeoutMs: FLUSH_MS + 200, run: () => this.#recorder?.close(FLUSH_MS) },
      { name: 'journal', timeoutMs: 3_000, run: () => this.#log?.close() },
    ];
  }
}
