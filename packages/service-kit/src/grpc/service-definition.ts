import { fromBinary, toBinary, type DescMessage, type DescService, type Message } from '@bufbuild/protobuf';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** A request that could not be decoded travels as this, so that the handler can answer INVALID_ARGUMENT. */
export class UndecodableMessage {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/**
 * The method table that grpc-js wants, from a protobuf-es service descriptor; for servers and clients.
 * A request deserialiser that throws would end the call as INTERNAL; ours gives an {@link UndecodableMessage}.
 * Where a message is sent, its encoded bytes do as well.
 */
export function serviceDefinition(service: DescService): ServiceDefinition {
  const definition: Record<string, MethodDefinition<Message, Message>> = {};
  for (const method of service.methods) {
    definition[method.localName] = {
      path: `/${service.typeName}/${method.name}`,
      requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
      responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
      requestSerialize: (message) => encode(method.input, message),
      requestDeserialize: (bytes) => decode(method.input, bytes),
      responseSerialize: (message) => encode(method.output, message),
      responseDeserialize: (bytes) => fromBinary(method.output, bytes),
    };
  }
  return definition;
}

/** The message as bytes; bytes pass as they are. */
export function encode(desc: DescMessage, message: Message | Uint8Array): Buffer {
  const bytes = message instanceof Uint8Array ? message : toBinary(desc, message);
  // A view on the same memory: the encoder's buffer may be larger than the message.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function decode(desc: DescMessage, bytes: Buffer): Message {
  try {
    return fromBinary(desc, bytes);
  } catch (error) {
    return new UndecodableMessage(error) as unknown as Message;
  }
}
