import { fromJson, toJson, type DescMethod, type JsonObject, type Message } from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import { RegistryService } from '@parley/proto';
import { z } from 'zod';
import { recordingLogger } from '../http/http.test-helper.js';
import { createMetrics, type Metrics } from '../metrics/metrics.js';
import { operation } from '../operation.js';
import { createGrpcServer, type GrpcMethod, type GrpcServerOptions, type RunningGrpcServer } from './grpc-server.js';
import { serviceDefinition } from './service-definition.js';

export interface TestGrpcServer extends RunningGrpcServer {
  readonly port: number;
  readonly client: grpc.Client;
  readonly lines: readonly Record<string, unknown>[];
  readonly metrics: Metrics;
}

const running = new Set<() => Promise<void>>();

/** To be called after each test. */
export async function closeGrpcServers(): Promise<void> {
  const closing = [...running];
  running.clear();
  await Promise.all(closing.map((close) => close()));
}

/** The registry's service with the given methods; the others do nothing. */
export async function startGrpc(
  methods: Readonly<Record<string, GrpcMethod>> = {},
  options: Partial<GrpcServerOptions> = {},
): Promise<TestGrpcServer> {
  const { logger, lines } = recordingLogger();
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const idle = operation(z.unknown(), () => ({}));
  const all = RegistryService.methods.map((method) => [
    method.name,
    method.methodKind === 'unary'
      ? { operation: idle }
      : { stream: { input: z.unknown(), handle: async function* () {} } },
  ]);
  const bound = { ...(Object.fromEntries(all) as Record<string, GrpcMethod>), ...methods };
  const server = createGrpcServer({
    services: [{ service: RegistryService, methods: bound }],
    logger,
    metrics,
    ...options,
  });
  const port = await server.listen(0, '127.0.0.1');
  const client = connect(port);
  running.add(async () => {
    client.close();
    await server.close(0);
  });
  return { ...server, port, client, lines, metrics };
}

export function connect(port: number): grpc.Client {
  return new grpc.Client(`127.0.0.1:${String(port)}`, grpc.credentials.createInsecure());
}

const definition = serviceDefinition(RegistryService);

export function method(name: string): {
  readonly desc: DescMethod;
  readonly wire: grpc.MethodDefinition<Message, Message>;
} {
  const desc = RegistryService.methods.find((one) => one.name === name);
  const wire = desc === undefined ? undefined : definition[desc.localName];
  if (desc === undefined || wire === undefined) throw new Error(`no method ${name}`);
  return { desc, wire };
}

export interface CallOptions {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Instead of the encoded request. */
  readonly bytes?: Buffer;
  readonly onCall?: (call: grpc.ClientUnaryCall) => void;
}

/** A unary call with JSON in and out; rejects with the ServiceError as it came. */
export function call(
  client: grpc.Client,
  name: string,
  request: object,
  options: CallOptions = {},
): Promise<JsonObject> {
  const { desc, wire } = method(name);
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries(options.metadata ?? {})) metadata.set(key, value);
  return new Promise((resolve, reject) => {
    const started = client.makeUnaryRequest(
      wire.path,
      options.bytes === undefined ? wire.requestSerialize : () => options.bytes as Buffer,
      wire.responseDeserialize,
      fromJson(desc.input, request as JsonObject),
      metadata,
      options.timeoutMs === undefined ? {} : { deadline: Date.now() + options.timeoutMs },
      (error, answer) => {
        if (error !== null) reject(error);
        else resolve(toJson(desc.output, answer as Message, { useProtoFieldName: true }) as JsonObject);
      },
    );
    options.onCall?.(started);
  });
}

/** The error of a call that must fail. */
export async function failureOf(answer: Promise<unknown>): Promise<grpc.ServiceError> {
  try {
    await answer;
  } catch (error) {
    return error as grpc.ServiceError;
  }
  throw new Error('it succeeded');
}

/** A server stream that is read only as far as it is asked to; its errors are for whoever listens. */
export function watch(client: grpc.Client, options: grpc.CallOptions = {}): grpc.ClientReadableStream<Message> {
  const { desc, wire } = method('Watch');
  const { path, requestSerialize, responseDeserialize } = wire;
  const request = fromJson(desc.input, {});
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, options);
  stream.on('error', () => undefined);
  return stream;
}
