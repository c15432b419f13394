import {
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type DescMethod,
  type JsonValue,
  type Message,
} from '@bufbuild/protobuf';
import {
  Client,
  credentials,
  Metadata,
  type CallOptions as GrpcCallOptions,
  type ChannelCredentials,
} from '@grpc/grpc-js';
import { fromGrpcError } from './grpc-errors.js';

export interface GrpcCall {
  readonly signal: AbortSignal;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface GrpcChannel {
  /** One message there, one back, both in their JSON form with the proto's field names. */
  unary(method: DescMethod, input: unknown, call: GrpcCall & { readonly timeoutMs: number }): Promise<unknown>;
  /** No deadline: it lives as long as the signal. `opened` is called when the server has answered the head. */
  stream(method: DescMethod, input: unknown, call: GrpcCall & { readonly opened: () => void }): AsyncIterable<unknown>;
  close(): void;
}

/** One client per target for life. @param target `host:port`, `grpc://host:port`, or `grpcs://host:port` for TLS. */
export function grpcChannel(target: string, maxAnswerBytes: number): GrpcChannel {
  const client = new Client(target.replace(/^grpcs?:\/\//u, ''), channelCredentials(target), {
    'grpc.max_receive_message_length': maxAnswerBytes,
    // A registry that restarts is found again within seconds; the defaults wait up to two minutes.
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 5_000,
    // A dead connection under a quiet watch is noticed after 30 s.
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.keepalive_permit_without_calls': 0,
  });
  return {
    unary: (method, input, call) => unary(client, method, input, call),
    stream: (method, input, call) => stream(client, method, input, call),
    close: () => {
      client.close();
    },
  };
}

function channelCredentials(target: string): ChannelCredentials {
  return target.startsWith('grpcs://') ? credentials.createSsl() : credentials.createInsecure();
}

/** What grpc-js needs of a method, out of its descriptor. */
function definition(method: DescMethod): {
  path: string;
  serialize: (json: unknown) => Buffer;
  deserialize: (bytes: Buffer) => unknown;
} {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    serialize: (json) => encode(method.input, json),
    deserialize: (bytes) => decode(method.output, bytes),
  };
}

function encode(schema: DescMessage, json: unknown): Buffer {
  // What is `undefined` is absent in JSON; the message knows no such value.
  const plain = JSON.parse(JSON.stringify(json)) as JsonValue;
  const bytes = toBinary(schema, fromJson(schema, plain));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function decode(schema: DescMessage, bytes: Buffer): unknown {
  const message: Message = fromBinary(schema, bytes);
  return toJson(schema, message, { useProtoFieldName: true });
}

function metadataOf(entries: Readonly<Record<string, string>> = {}): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(entries)) metadata.set(name, value);
  return metadata;
}

function unary(
  client: Client,
  method: DescMethod,
  input: unknown,
  { signal, metadata, timeoutMs }: GrpcCall & { readonly timeoutMs: number },
): Promise<unknown> {
  const { path, serialize, deserialize } = definition(method);
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(fromGrpcError(undefined, signal, timeoutMs));
      return;
    }
    const options: GrpcCallOptions = { deadline: Date.now() + timeoutMs };
    const call = client.makeUnaryRequest(
      path,
      serialize,
      deserialize,
      input,
      metadataOf(metadata),
      options,
      (error, value) => {
        signal.removeEventListener('abort', cancel);
        if (error === null) resolve(value);
        else reject(fromGrpcError(error, signal, timeoutMs));
      },
    );
    const cancel = (): void => {
      call.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
  });
}

async function* stream(
  client: Client,
  method: DescMethod,
  input: unknown,
  { signal, metadata, opened }: GrpcCall & { readonly opened: () => void },
): AsyncGenerator {
  if (signal.aborted) throw fromGrpcError(undefined, signal, 0);
  const { path, serialize, deserialize } = definition(method);
  const call = client.makeServerStreamRequest(path, serialize, deserialize, input, metadataOf(metadata), {});
  const cancel = (): void => {
    call.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  call.once('metadata', opened);
  // The iterator reports an error once; a late one (after a cancel) must not become an uncaught one.
  call.on('error', () => undefined);
  try {
    yield* call as AsyncIterable<unknown>;
  } catch (error) {
    throw fromGrpcError(error, signal, 0);
  } finally {
    signal.removeEventListener('abort', cancel);
    call.cancel();
  }
}
