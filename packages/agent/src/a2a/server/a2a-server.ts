import type { AgentCard } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { ServerInterceptor } from '@grpc/grpc-js';
import type { Logger, Metrics, RawGrpcService } from '@parley/service-kit';
import { Router, type Express } from 'express';
import { OpenCalls, type CallScope } from './call-scope.js';
import { buildAgentCard, JSON_RPC_PATH, REST_PATH } from './card/build-agent-card.js';
import { CARD_PATHS, cardEndpoint } from './card/card-endpoint.js';
import type { A2aCardOptions } from './card/card-options.js';
import type { A2aFailure } from './errors/a2a-failure.js';
import { grpcServices } from './grpc/grpc-services.js';
import { guardHandler } from './guarded-handler.js';
import { cors } from './http/cors.js';
import type { HttpEdge } from './http/http-call.js';
import { jsonRpcEndpoint } from './http/json-rpc.js';
import { restEndpoint } from './http/rest.js';

export interface A2aServerOptions {
  readonly card: A2aCardOptions;
  /** Does what is asked; its AppErrors and A2A errors are told as such, anything else by a fixed sentence. */
  readonly requestHandler: A2ARequestHandler;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  /** Default 8 MiB; a longer body is refused with 413. */
  readonly maxBodyBytes?: number;
  /** How often an event stream says that it is alive. Default 15,000 ms. */
  readonly keepAliveMs?: number;
  /** A reader of a stream that takes nothing for this long loses it. Default 30,000 ms. */
  readonly slowReaderMs?: number;
  /** Also protocol 0.3, which a request without a version means. Default: as the card's options say. */
  readonly compat?: boolean;
  /** Web pages that may call. Default `*`. */
  readonly allowedOrigins?: '*' | readonly string[];
  /** Milliseconds since 1970; the card's Last-Modified. Default Date.now. */
  readonly now?: () => number;
}

export interface A2aServer {
  readonly card: AgentCard;
  /** Adds the card, JSON-RPC and HTTP+JSON; to be called before other routes are. */
  mount(app: Express): void;
  /** For the gRPC server; no service without a `grpcTarget` on the card. */
  readonly grpc: {
    readonly services: readonly RawGrpcService[];
    readonly interceptors: readonly ServerInterceptor[];
    /** What the gRPC server has to take as the longest message. */
    readonly maxMessageBytes: number;
  };
  /** Ends all open streams, and those that are still to come; their tasks go on. */
  close(): void;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The wire of an A2A agent: three bindings, versions 1.0 and 0.3, over one request handler. */
export function createA2aServer(options: A2aServerOptions): A2aServer {
  const compat = options.compat ?? options.card.compat;
  const card = buildAgentCard({ ...options.card, compat });
  const calls = new OpenCalls();
  const handler = guardHandler({ handler: options.requestHandler, card, onFailure: logTo(options.logger) });
  const edge: HttpEdge = {
    compat,
    calls,
    metrics: options.metrics,
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    slowReaderMs: options.slowReaderMs ?? 30_000,
  };
  const routes = httpRoutes(options, card, handler, edge);
  return {
    card,
    mount: (app) => {
      app.use(routes);
    },
    grpc: {
      services: options.card.grpcTarget === undefined ? [] : grpcServices(handler, edge),
      interceptors: [],
      maxMessageBytes: edge.maxBodyBytes,
    },
    close: () => {
      calls.close();
    },
  };
}

function httpRoutes(options: A2aServerOptions, card: AgentCard, handler: A2ARequestHandler, edge: HttpEdge): Router {
  const { compat, metrics } = edge;
  const lastModified = (options.now ?? Date.now)();
  const router = Router();
  router.use([...CARD_PATHS, JSON_RPC_PATH], cors(options.allowedOrigins ?? '*'));
  router.all(CARD_PATHS, cardEndpoint({ card, compat, lastModified, metrics }));
  router.all(JSON_RPC_PATH, jsonRpcEndpoint(handler, edge));
  router.use(REST_PATH, restEndpoint(handler, edge));
  return router;
}

function logTo(logger: Logger): (failure: A2aFailure, scope: CallScope, method: string) => void {
  return (failure, { binding, legacy }, method) => {
    const fields = { method, binding, version: legacy ? '0.3' : '1.0', reason: failure.reason };
    if (failure.reason === 'INTERNAL_ERROR') logger.error('a2a call failed', { ...fields, error: failure.cause });
    else if (failure.grpc === 14 && failure.reason !== 'SHUTTING_DOWN') {
      logger.warn('a2a call not served', { ...fields, error: failure.cause });
    } else logger.debug('a2a call refused', { ...fields, detail: failure.message });
  };
}
