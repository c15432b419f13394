import { toBinary, type DescFile, type DescService } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type * as grpc from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';

const UNAVAILABLE = 14;

/** `grpc.health.v1.Health` for the whole server (the empty name) and each service; not serving until told. */
export function addHealth(
  server: grpc.Server,
  services: readonly string[],
  closing: AbortSignal,
): { setServing(serving: boolean): void } {
  const names = ['', ...services];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])));
  health.addToServer(endingStreams(server, closing));
  return {
    setServing: (serving) => {
      for (const name of names) health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
    },
  };
}

/** Server reflection (v1 and v1alpha), so that grpcurl and the like need no proto files. */
export function addReflection(server: grpc.Server, services: readonly DescService[], closing: AbortSignal): void {
  // Imported files may define services that this server does not have.
  const served = { services: services.map(({ typeName }) => typeName) };
  new ReflectionService(reflectionPackage(services), served).addToServer(endingStreams(server, closing));
}

/**
 * Gives a library's services to the server so that their open streams end when the server closes:
 * they would stay open as long as their reader likes, and hold the shutdown.
 */
export function endingStreams(server: grpc.Server, closing: AbortSignal): grpc.Server {
  const addService: grpc.Server['addService'] = (service, implementation) => {
    const wrapped: Record<string, grpc.UntypedHandleCall> = {};
    for (const [name, handler] of Object.entries(implementation)) {
      const streams = Object.entries(service).some(
        ([method, definition]) => definition.responseStream && method.toLowerCase() === name.toLowerCase(),
      );
      wrapped[name] = streams ? endingOn(closing, handler as StreamHandler) : handler;
    }
    server.addService(service, wrapped);
  };
  return Object.create(server, { addService: { value: addService } }) as grpc.Server;
}

type StreamHandler = grpc.handleServerStreamingCall<unknown, unknown>;

function endingOn(closing: AbortSignal, handler: StreamHandler): StreamHandler {
  return (call) => {
    const end = (): void => {
      call.emit('error', { code: UNAVAILABLE, details: 'The service is shutting down.' });
    };
    if (closing.aborted) {
      end();
      return;
    }
    closing.addEventListener('abort', end, { once: true });
    const over = (): void => {
      closing.removeEventListener('abort', end);
    };
    call.on('cancelled', over).on('finish', over);
    handler(call);
  };
}

/** The descriptor files in the form in which the reflection service looks for them. */
function reflectionPackage(services: readonly DescService[]): ConstructorParameters<typeof ReflectionService>[0] {
  const files = new Map<string, Buffer>();
  const visit = (file: DescFile): void => {
    if (files.has(file.name)) return;
    files.set(file.name, Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
    for (const dependency of file.dependencies) visit(dependency);
  };
  for (const service of services) visit(service.file);
  return {
    parley: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos: [...files.values()] },
  } as never;
}
