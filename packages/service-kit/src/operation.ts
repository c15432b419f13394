import type { z } from 'zod';

/** What an operation may know of the call that carries it, whatever the transport. */
export interface CallContext {
  readonly requestId: string;
  /** Aborted when the caller leaves or the deadline passes. */
  readonly signal: AbortSignal;
  readonly transport: 'http' | 'grpc';
  /** The token of `Authorization: Bearer ...`. */
  readonly bearer?: string | undefined;
  /** Any other header or metadata entry by lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/**
 * One thing that a service can do. Both transports turn what arrives into the same plain object
 * (the JSON form of the request message, proto field names), check it with the same schema and
 * call the same function, so they cannot differ in behaviour or validation.
 *
 * `I` is the checked input, `O` the JSON form of the response message.
 */
export interface Operation<I, O extends object> {
  readonly input: z.ZodType<I>;
  readonly handle: (input: I, call: CallContext) => Promise<O> | O;
}

export function operation<I, O extends object>(
  input: z.ZodType<I>,
  handle: (input: I, call: CallContext) => Promise<O> | O,
): Operation<I, O> {
  return { input, handle };
}

// Tables hold operations of many shapes; the schema guards the input before it is ever used.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyOperation = Operation<any, any>;

/** A method whose answer is a stream of messages: pulled, so that a slow reader slows the producer. */
export interface StreamOperation<I, O extends object> {
  readonly input: z.ZodType<I>;
  /** Everything that can fail at once fails before the first item, so that it can still be a status. */
  readonly handle: (input: I, call: CallContext) => Promise<AsyncIterable<O>> | AsyncIterable<O>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyStreamOperation = StreamOperation<any, any>;
