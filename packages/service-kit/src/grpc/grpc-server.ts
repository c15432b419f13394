import type { DescService } from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import { AppError } from '../errors/app-error.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import type { AnyOperation, AnyStreamOperation } from '../operation.js';
import { addHealth, addReflection, endingStreams } from './grpc-operations.js';
import { methodHandlers } from './method-handlers.js';
import { serviceDefinition } from './service-definition.js';

/** How a method is carried: the operation, and where its input and output sit in the messages. */
export interface GrpcMethod {
  readonly operation?: AnyOperation;
  readonly stream?: AnyStreamOperation;
  /** Default: the request's JSON form as it is. */
  readonly input?: (request: Record<string, unknown>) => unknown;
  /** Default: the operation's output as it is. */
  readonly output?: (output: never) => object;
}

export interface GrpcServiceBinding {
  readonly service: DescService;
  /** By method name as in the contract: `Discover`. All of them: a missing one fails the start. */
  readonly methods: Readonly<Record<string, GrpcMethod>>;
}

/** A service with a table of methods and handlers of its own: the contract is not one of ours. */
export interface RawGrpcService {
  readonly definition: grpc.ServiceDefinition;
  readonly implementation: grpc.UntypedServiceImplementation;
}

export interface GrpcServerOptions {
  readonly services: readonly GrpcServiceBinding[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Services of other contracts, as grpc-js takes them. Their open streams end when the server closes. */
  readonly extraServices?: readonly RawGrpcService[];
  /** Called for every call, in this order, before its handler. */
  readonly interceptors?: readonly grpc.ServerInterceptor[];
  /** Default 64 KiB, for every service; a longer message is RESOURCE_EXHAUSTED. */
  readonly maxMessageBytes?: number;
  /** Used when the caller gave no sooner deadline; for a stream until its first item is asked for. Default 20,000 ms. */
  readonly deadlineMs?: number;
  /** The source of a stream whose reader takes nothing for this long is returned. Default 10,000 ms. */
  readonly slowReaderMs?: number;
}

export interface RunningGrpcServer {
  listen(port: number, host: string): Promise<number>;
  /** What `grpc.health.v1.Health` answers, for the server and for each of its services. */
  setServing(serving: boolean): void;
  /** Ends open streams with UNAVAILABLE, lets calls finish within the grace, then forces. Called again, the shorter grace counts. */
  close(graceMs: number): Promise<void>;
}

/** A gRPC server for operations, with health and reflection. */
export function createGrpcServer(options: GrpcServerOptions): RunningGrpcServer {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': options.maxMessageBytes ?? 64 * 1024,
    // A client that vanished without a word would hold its streams for ever.
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    interceptors: [...(options.interceptors ?? [])],
  });
  const closing = new AbortController();
  for (const binding of options.services) {
    server.addService(
      serviceDefinition(binding.service),
      methodHandlers(binding, { ...options, closing: closing.signal }),
    );
  }
  const extra = options.extraServices ?? [];
  for (const { definition, implementation } of extra) {
    endingStreams(server, closing.signal).addService(definition, implementation);
  }
  const services = options.services.map(({ service }) => service);
  const names = [
    ...services.map(({ typeName }) => typeName),
    ...extra.map(({ definition }) => serviceName(definition)),
  ];
  const health = addHealth(server, names, closing.signal);
  addReflection(server, services, closing.signal);
  let closed: Shutdown | undefined;
  return {
    listen: (port, host) => bind(server, `${host.includes(':') ? `[${host}]` : host}:${String(port)}`),
    setServing: (serving) => {
      health.setServing(serving);
    },
    close: (graceMs) => {
      health.setServing(false);
      // Shutting down waits for every open stream; ours would stay for ever.
      closing.abort(new AppError('unavailable', 'The service is shutting down.', { code: 'shutting_down' }));
      closed ??= shutDown(server);
      const { done, finish } = closed;
      const force = setTimeout(() => {
        server.forceShutdown();
        // The library does not report the end of what was forced.
        finish();
      }, graceMs);
      return done.finally(() => {
        clearTimeout(force);
      });
    },
  };
}

/** `/lf.a2a.v1.A2AService/GetTask` names its service. */
function serviceName(definition: grpc.ServiceDefinition): string {
  const [first] = Object.values(definition);
  return first?.path.split('/')[1] ?? '';
}

function bind(server: grpc.Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}

interface Shutdown {
  readonly done: Promise<void>;
  readonly finish: () => void;
}

function shutDown(server: grpc.Server): Shutdown {
  let finish = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  server.tryShutdown(() => {
    finish();
  });
  return { done, finish };
}
