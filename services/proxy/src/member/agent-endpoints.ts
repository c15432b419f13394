import { agentBindings, agentOperations, agentRoutes, type Agent } from '@parley/agent';
import {
  createGrpcServer,
  createHttpServer,
  type Logger,
  type Metrics,
  type RunningGrpcServer,
} from '@parley/service-kit';
import type { RequestHandler } from 'express';
import type { DriverLease } from './driver-lease.js';

export interface AgentEndpointOptions {
  readonly agent: Agent;
  readonly lease: DriverLease;
  readonly registryUrl: string;
  /** Where set, listing agreements needs it as bearer; it may also end any agreement. */
  readonly operatorToken?: string | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface AgentEndpoints {
  /** Takes what is an agent's operation, and passes all else on. */
  readonly handler: RequestHandler;
  readonly grpc: RunningGrpcServer;
}

/** All that an agent is asked but `delegate`: a proxy hands no work on. */
const SERVED = /^\/(?:negotiate|invoke|agreements(?:\/.*)?)$/u;
const DEADLINE_MS = 20_000;

/** What every agent can be asked, over HTTP and over gRPC: to negotiate, and about its agreements. */
export function agentEndpoints(options: AgentEndpointOptions): AgentEndpoints {
  const { lease, logger, metrics } = options;
  const operations = agentOperations(options);
  const { negotiate } = operations;
  const explained = {
    ...operations,
    negotiate: {
      ...negotiate,
      handle: async (...call: Parameters<typeof negotiate.handle>) => lease.explained(await negotiate.handle(...call)),
    },
  };
  // Its app alone is used: there is one port.
  const { app } = createHttpServer({
    routes: agentRoutes(explained),
    logger,
    metrics,
    deadlineMs: DEADLINE_MS,
  });
  return {
    handler: (request, response, next) => {
      if (SERVED.test(request.path)) app(request, response, next);
      else next();
    },
    grpc: createGrpcServer({
      services: agentBindings(explained).filter(({ service }) => service.name === 'NegotiationService'),
      logger,
      metrics,
      deadlineMs: DEADLINE_MS,
    }),
  };
}
