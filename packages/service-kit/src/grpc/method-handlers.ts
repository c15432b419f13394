import { fromJson, toJson, type DescMessage, type DescMethod, type JsonValue, type Message } from '@bufbuild/protobuf';
import type * as grpc from '@grpc/grpc-js';
import { AppError, failureOfCall } from '../errors/app-error.js';
import { checkPlainJson } from '../errors/plain-json.js';
import { REASONS } from '../errors/reasons.js';
import { validate } from '../errors/validate.js';
import { recordOnSpan } from '../http/problem-response.js';
import type { Logger } from '../logging/logger.js';
import type { AnyOperation, AnyStreamOperation } from '../operation.js';
import { drained } from '../streams/drained.js';
import { pullItems } from '../streams/pull-items.js';
import { isPromiseLike, withSignal } from '../streams/with-signal.js';
import { grpcCall, type GrpcCallContext } from './grpc-call.js';
import type { GrpcMethod, GrpcServerOptions, GrpcServiceBinding } from './grpc-server.js';
import { toServiceError } from './problem-trailer.js';
import { encode, UndecodableMessage } from './service-definition.js';

interface HandlerOptions extends GrpcServerOptions {
  /** Aborted with the reason to be told when the server closes. */
  readonly closing: AbortSignal;
}

/** A request message, or that it could not be decoded; an encoded response. */
type UnaryCall = grpc.ServerUnaryCall<Message | UndecodableMessage, Uint8Array>;
type StreamCall = grpc.ServerWritableStream<Message | UndecodableMessage, Uint8Array>;

const DEADLINE_MS = 20_000;
const SLOW_READER_MS = 10_000;

/** @throws when a method of the service has no operation. */
export function methodHandlers(
  binding: GrpcServiceBinding,
  options: HandlerOptions,
): grpc.UntypedServiceImplementation {
  const out: grpc.UntypedServiceImplementation = {};
  for (const method of binding.service.methods) {
    const bound = binding.methods[method.name];
    if (bound?.operation !== undefined && method.methodKind === 'unary') {
      out[method.localName] = unaryHandler(method, bound, bound.operation, options);
    } else if (bound?.stream !== undefined && method.methodKind === 'server_streaming') {
      out[method.localName] = streamHandler(method, bound, bound.stream, options);
    } else throw new Error(`${binding.service.typeName}.${method.name} has no operation`);
  }
  return out;
}

function unaryHandler(method: DescMethod, bound: GrpcMethod, operation: AnyOperation, options: HandlerOptions) {
  const serve = async (call: UnaryCall, reply: grpc.sendUnaryData<Uint8Array>): Promise<void> => {
    const started = performance.now();
    const context = grpcCall(call, { deadlineMs: options.deadlineMs ?? DEADLINE_MS });
    let code = 0;
    try {
      const input = readInput(method.input, call.request, bound, operation);
      const work: unknown = operation.handle(input, context);
      const output = (isPromiseLike(work) ? await withSignal(work, context.signal) : work) as never;
      reply(null, encodeOutput(method.output, bound, output));
    } catch (thrown) {
      const error = failureOfCall(thrown, context.signal.aborted);
      code = REASONS[error.reason].grpc;
      logGrpcFailure(options.logger, method, error, context);
      reply(toServiceError(error, context.requestId));
    } finally {
      context.finish();
      options.metrics.grpcRequest(method.name, code, (performance.now() - started) / 1_000);
    }
  };
  return (call: UnaryCall, reply: grpc.sendUnaryData<Uint8Array>): void => {
    void serve(call, reply);
  };
}

function streamHandler(method: DescMethod, bound: GrpcMethod, operation: AnyStreamOperation, options: HandlerOptions) {
  const serve = async (call: StreamCall): Promise<void> => {
    const started = performance.now();
    const context = grpcCall(call, { closing: options.closing });
    const { signal } = context;
    let code = 0;
    try {
      const input = readInput(method.input, call.request, bound, operation);
      const items = await open(operation, input, context, options.deadlineMs ?? DEADLINE_MS);
      const end = await pullItems(items, signal, async (item) => {
        const room = call.write(encodeOutput(method.output, bound, item));
        if (!room) await drained(call, signal, options.slowReaderMs ?? SLOW_READER_MS);
      });
      if (end === 'aborted') throw signal.reason;
      call.end();
    } catch (thrown) {
      const error = failureOfCall(thrown, signal.aborted);
      code = REASONS[error.reason].grpc;
      logGrpcFailure(options.logger, method, error, context);
      call.emit('error', toServiceError(error, context.requestId));
    } finally {
      context.finish();
      options.metrics.grpcRequest(method.name, code, (performance.now() - started) / 1_000);
    }
  };
  return (call: StreamCall): void => {
    void serve(call);
  };
}

/** The operation's answer up to its first item has the deadline of a unary call. */
async function open(
  operation: AnyStreamOperation,
  input: never,
  context: GrpcCallContext,
  deadlineMs: number,
): Promise<AsyncIterable<never>> {
  const work: unknown = operation.handle(input, context);
  if (!isPromiseLike(work)) return work as AsyncIterable<never>;
  const deadline = new AbortController();
  const timer = setTimeout(() => {
    deadline.abort(new DOMException('The deadline of the call passed.', 'TimeoutError'));
  }, deadlineMs);
  try {
    return (await withSignal(withSignal(work, deadline.signal), context.signal)) as AsyncIterable<never>;
  } finally {
    clearTimeout(timer);
  }
}

function readInput(
  desc: DescMessage,
  request: Message | UndecodableMessage,
  bound: GrpcMethod,
  operation: AnyOperation | AnyStreamOperation,
): never {
  const json = requestJson(desc, request);
  return validate(operation.input, bound.input === undefined ? json : bound.input(json)) as never;
}

function requestJson(desc: DescMessage, request: Message | UndecodableMessage): Record<string, unknown> {
  if (request instanceof UndecodableMessage) {
    throw new AppError('invalid_request', 'The message cannot be decoded.', { cause: request.cause });
  }
  let json: JsonValue;
  try {
    json = toJson(desc, request, { useProtoFieldName: true });
  } catch (error) {
    throw new AppError('invalid_request', 'The message has a value without content.', { cause: error });
  }
  checkPlainJson(json);
  return json as Record<string, unknown>;
}

/** Encoded here and not by the library, so that an answer that cannot be encoded is a failure like any other. */
function encodeOutput(desc: DescMessage, bound: GrpcMethod, output: never): Uint8Array {
  return encode(desc, fromJson(desc, (bound.output?.(output) ?? output) as JsonValue));
}

function logGrpcFailure(logger: Logger, method: DescMethod, error: AppError, context: GrpcCallContext): void {
  const fields = { request_id: context.requestId, method: method.name, code: error.code };
  if (error.reason === 'internal') {
    recordOnSpan(error);
    logger.error('call failed', { ...fields, error: error.cause ?? error });
  } else if (error.reason === 'unavailable' && error.code !== 'shutting_down') {
    logger.warn('call not served', { ...fields, error: error.cause ?? error });
  } else logger.debug('call refused', { ...fields, detail: error.message });
}
