import { A2AService, grpcService, type GrpcServiceOptions } from '@a2a-js/sdk/server/grpc';
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { MethodDefinition, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { UndecodableMessage, type Metrics, type RawGrpcService } from '@parley/service-kit';
import type { OpenCalls } from '../call-scope.js';
import { contextOfUser } from '../scoped-user.js';
import { ServedCall, type Edge, type LibraryHandler, type RawCall, type Reply } from './served-call.js';

export interface GrpcEdge extends Edge {
  readonly calls: OpenCalls;
  readonly metrics: Metrics | undefined;
}

/** The services of both versions, by the protocol's library; every call of theirs goes through a {@link ServedCall}. */
export function grpcServices(handler: A2ARequestHandler, edge: GrpcEdge): RawGrpcService[] {
  const options: GrpcServiceOptions = {
    requestHandler: handler,
    // The library hands the call through as it got it.
    userBuilder: (call) => Promise.resolve((call as unknown as ServedCall).user),
    contextBuilder: contextOfUser,
  };
  const current = bind(A2AService, grpcService(options), edge, false);
  return edge.compat ? [current, bind(LegacyA2AService, legacyGrpcService(options), edge, true)] : [current];
}

function bind(
  definition: ServiceDefinition,
  library: UntypedServiceImplementation,
  edge: GrpcEdge,
  legacy: boolean,
): RawGrpcService {
  const implementation: UntypedServiceImplementation = {};
  const methods: Record<string, MethodDefinition<unknown, unknown>> = {};
  for (const [name, method] of Object.entries(definition)) {
    methods[name] = tolerant(method as MethodDefinition<unknown, unknown>);
    const run = library[name] as unknown as LibraryHandler;
    const label = method.path.split('/')[2] ?? name;
    const serve = (call: RawCall, reply?: Reply): void => {
      new ServedCall({ call, reply, legacy, label, edge }).serve(run);
    };
    implementation[name] = serve;
  }
  return { definition: methods, implementation };
}

/** A message that cannot be decoded would end the call as an internal error, before any handler. */
function tolerant(method: MethodDefinition<unknown, unknown>): MethodDefinition<unknown, unknown> {
  return {
    ...method,
    requestDeserialize: (bytes) => {
      try {
        return method.requestDeserialize(bytes);
      } catch (error) {
        return new UndecodableMessage(error);
      }
    },
  };
}
