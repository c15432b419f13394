import { Extensions } from '@a2a-js/sdk';
import { ServerCallContext, STATE_HEADERS_KEY, UnauthenticatedUser } from '@a2a-js/sdk/server';
import { Metadata, type ServiceError } from '@grpc/grpc-js';
import { UndecodableMessage, type Metrics } from '@parley/service-kit';
import { bindScope, CallScope, type OpenCalls, type Sink } from '../call-scope.js';
import { protocolFailure, type A2aFailure } from '../errors/a2a-failure.js';
import { unexplained } from '../errors/library-failure.js';
import { grpcError } from '../errors/wire-errors.js';
import { isServed, LEGACY, minorVersion, unservedSentence } from '../protocol-version.js';
import { ScopedUser } from '../scoped-user.js';

export interface Edge {
  readonly compat: boolean;
  readonly slowReaderMs: number;
  readonly calls: OpenCalls;
  readonly metrics: Metrics | undefined;
}

/** What a unary call and a server stream of grpc-js have in common, and what only the stream has. */
export interface RawCall extends Sink {
  readonly request: unknown;
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  readonly writableEnded?: boolean;
  sendMetadata(metadata: Metadata): void;
  write(item: unknown): boolean;
  end(): void;
  emit(event: 'error', error: Partial<ServiceError>): boolean;
  on(event: 'cancelled', listener: () => void): unknown;
}

export type Reply = (error: Partial<ServiceError> | null, value?: unknown) => void;
export type LibraryHandler = (call: ServedCall, reply: (error: unknown, value?: unknown) => void) => unknown;

export interface ServedCallOptions {
  readonly call: RawCall;
  /** Undefined for a stream. */
  readonly reply: Reply | undefined;
  readonly legacy: boolean;
  /** The method, for metrics. */
  readonly label: string;
  readonly edge: Edge;
}

/**
 * A call as the protocol's library sees it. Headers wait for the first item, because only then it is known which
 * extensions are in use; failures are told by our table; nothing is written to a call that has ended.
 */
export class ServedCall {
  readonly request: unknown;
  readonly metadata: Metadata;
  readonly user: ScopedUser;
  readonly #options: ServedCallOptions;
  readonly #scope: CallScope;
  readonly #version: string | undefined;
  readonly #started = performance.now();
  readonly #over: (isComplete: boolean) => void;
  #hasBegun = false;
  #hasEnded = false;

  constructor(options: ServedCallOptions) {
    const { call, legacy, edge } = options;
    this.#options = options;
    this.request = call.request;
    this.metadata = call.metadata.clone();
    this.#version = minorVersion(textOf(call.metadata, 'a2a-version'));
    if (this.#version === undefined) this.metadata.remove('a2a-version');
    else this.metadata.set('a2a-version', this.#version);
    this.#scope = new CallScope({ binding: 'grpc', legacy, sink: call, slowReaderMs: edge.slowReaderMs });
    if (call.cancelled) this.#scope.leave();
    this.#over = edge.calls.add(this.#scope);
    // The library says this at the end of every call.
    call.on('cancelled', () => {
      this.#over(this.#hasEnded);
    });
    this.user = new ScopedUser(() => this.#makeContext());
  }

  serve(run: LibraryHandler): void {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      this.#fail(refusal);
      return;
    }
    run(this, (error, value) => {
      if (error === null || error === undefined) this.#answer(value);
      else this.#fail(this.#failureOf(error));
    });
  }

  /** The library sends its headers before there is anything to say in them. */
  sendMetadata(): void {
    return;
  }

  write(item: unknown): boolean {
    if (this.#isOver()) return false;
    this.#begin();
    return this.#options.call.write(item);
  }

  emit(_event: 'error', error: unknown): boolean {
    this.#fail(this.#failureOf(error));
    return true;
  }

  end(): void {
    if (this.#isOver()) return;
    this.#begin();
    this.#finish(0);
    this.#options.call.end();
  }

  #refusal(): A2aFailure | undefined {
    const { compat } = this.#options.edge;
    if (!isServed(this.#version, compat)) {
      return protocolFailure('VERSION_NOT_SUPPORTED', unservedSentence(this.#version, compat));
    }
    if (!(this.request instanceof UndecodableMessage)) return undefined;
    return protocolFailure('INVALID_PARAMS', 'The message cannot be decoded.', [], this.request.cause);
  }

  #makeContext(): ServerCallContext {
    const { legacy } = this.#options;
    const names = legacy ? ['a2a-extensions', 'x-a2a-extensions'] : ['a2a-extensions'];
    const asked = names.map((name) => this.metadata.get(name).map(String).join(',')).join(',');
    const headers = Object.fromEntries(
      Object.entries(this.metadata.getMap()).map(([key, value]) => [key, String(value)]),
    );
    const { tenant } = this.request as { readonly tenant?: unknown };
    const context = new ServerCallContext({
      requestedExtensions: Extensions.parseServiceParameter(asked),
      user: new UnauthenticatedUser(),
      state: new Map<string, unknown>([[STATE_HEADERS_KEY, headers]]),
      requestedVersion: this.#version ?? LEGACY,
      ...(typeof tenant === 'string' ? { tenant } : {}),
    });
    return bindScope(context, this.#scope);
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const metadata = new Metadata();
    for (const [name, value] of this.#scope.extensionHeaders()) metadata.set(name, value);
    this.#options.call.sendMetadata(metadata);
  }

  #answer(value: unknown): void {
    if (this.#isOver()) return;
    this.#begin();
    this.#finish(0);
    this.#options.reply?.(null, value);
  }

  #fail(failure: A2aFailure): void {
    if (this.#isOver()) return;
    this.#finish(failure.grpc);
    const error = grpcError(failure);
    const { call, reply } = this.#options;
    if (reply === undefined) call.emit('error', error);
    else reply(error);
  }

  #finish(code: number): void {
    this.#hasEnded = true;
    const { edge, label } = this.#options;
    edge.metrics?.grpcRequest(label, code, (performance.now() - this.#started) / 1_000);
    this.#over(true);
  }

  #isOver(): boolean {
    return this.#hasEnded || this.#options.call.writableEnded === true;
  }

  #failureOf(thrown: unknown): A2aFailure {
    const { failure, reached } = this.#scope;
    return failure ?? unexplained(reached, thrown);
  }
}

function textOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}
