import { contract } from '@parley/proto';
import {
  createGrpcServer,
  createHttpServer,
  createMetrics,
  mountOperations,
  openApiDocument,
  silentLogger,
  type Logger,
  type Metrics,
  type Readiness,
} from '@parley/service-kit';
import type { A2aServer } from '../a2a/server/index.js';
import type { Agent } from '../agent/agent.js';
import { agentBindings } from './agent-bindings.js';
import { agentOperations } from './agent-operations.js';
import { agentRoutes } from './agent-routes.js';

export interface ServeAgentOptions {
  /** 0 takes a free port. Default 0. */
  readonly httpPort?: number;
  /** 0 takes a free port; absent: not served over gRPC. */
  readonly grpcPort?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Where work is delegated from. Default http://127.0.0.1:8000. */
  readonly registryUrl?: string;
  /** When set, listing agreements and delegating need it as a bearer. */
  readonly operatorToken?: string | undefined;
  readonly logger?: Logger;
  /** Default: metrics of its own. */
  readonly metrics?: Metrics;
  /** Default: ready as long as it serves. */
  readonly readiness?: () => Readiness;
  /** A2A beside it: its paths on the HTTP port, its services on the gRPC port. */
  readonly a2a?: A2aServer;
}

export interface ServedAgent {
  readonly httpUrl: string;
  readonly httpPort: number;
  /** Undefined when it is not served over gRPC. */
  readonly grpcPort: number | undefined;
  /** Kept connections end with their next answer, so that their clients go elsewhere before `close`. */
  drain(): void;
  /** Takes nothing new, lets what is in flight finish within the grace (default 10,000 ms), then forces. Stops no agent. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Lets others reach an agent: `POST /negotiate`, its agreements, `POST /invoke` and `POST /delegate` over HTTP/JSON, the
 * same over gRPC, and health, readiness, metrics and OpenAPI.
 * @throws when a port is taken.
 */
export async function serveAgent(agent: Agent, options: ServeAgentOptions = {}): Promise<ServedAgent> {
  const { httpPort = 0, grpcPort, host = '127.0.0.1', logger = silentLogger } = options;
  const metrics = options.metrics ?? createMetrics({ service: agent.agentId, processMetrics: false });
  const operations = agentOperations({
    agent,
    registryUrl: options.registryUrl ?? 'http://127.0.0.1:8000',
    operatorToken: options.operatorToken,
  });
  const routes = agentRoutes(operations);
  const document = openApiDocument({
    title: `Parley agent ${agent.agentId}`,
    version: '0.1.0',
    description: 'Negotiates agreements and works under them.',
    registry: contract,
    routes,
  });
  const http = createHttpServer({
    routes,
    logger,
    metrics,
    deadlineMs: 130_000,
    extend: (app) => {
      options.a2a?.mount(app);
      mountOperations(app, {
        metrics,
        readiness: options.readiness ?? (() => ({ ready: true, checks: {} })),
        openapi: () => document,
      });
    },
  });
  const port = await http.listen(httpPort, host);
  const { services: extraServices = [], interceptors = [], maxMessageBytes } = options.a2a?.grpc ?? {};
  const grpc = createGrpcServer({
    services: agentBindings(operations),
    extraServices,
    interceptors,
    logger,
    metrics,
    deadlineMs: 130_000,
    ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
  });
  let boundGrpc: number | undefined;
  try {
    boundGrpc = grpcPort === undefined ? undefined : await grpc.listen(grpcPort, host);
  } catch (error) {
    await http.close(0);
    throw error;
  }
  grpc.setServing(true);
  return {
    httpUrl: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${String(port)}`,
    httpPort: port,
    grpcPort: boundGrpc,
    drain: () => {
      http.drain();
      grpc.setServing(false);
    },
    close: async (graceMs = 10_000) => {
      grpc.setServing(false);
      await Promise.all([http.close(graceMs), boundGrpc === undefined ? undefined : grpc.close(graceMs)]);
    },
  };
}
