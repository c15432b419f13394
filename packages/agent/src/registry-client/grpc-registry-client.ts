import type { DescMethod } from '@bufbuild/protobuf';
import { RegistryService } from '@parley/proto';
import { AppError } from '@parley/service-kit';
import type { z } from 'zod';
import { checkShape } from '../peer/read-answer.js';
import type { Agreement } from '../wire/agreement.js';
import type { Manifest } from '../wire/manifest.js';
import { FailOver, splitTargets } from './fail-over.js';
import { followWatch, type WatchConnection } from './follow-watch.js';
import { grpcChannel, type GrpcChannel } from './grpc-channel.js';
import type {
  CallOptions,
  DiscoverOptions,
  ListOptions,
  OwnerCallOptions,
  RegisterOptions,
  RegistryClient,
  WatchOptions,
} from './registry-client.js';
import * as wire from './wire.js';

export interface GrpcRegistryClientOptions {
  /** Longest time for one attempt at one registry. Default 3,000. */
  readonly timeoutMs?: number;
  /** Default 8 MiB. */
  readonly maxAnswerBytes?: number;
  readonly joinToken?: string;
  readonly now?: () => number;
  readonly random?: () => number;
}

const BROKER_TIMEOUT_MS = 16_000;

/** A registry over gRPC. @param targets `host:port`, `grpc://host:port` or `grpcs://host:port`; several separated by commas. */
export function grpcRegistryClient(targets: string, options: GrpcRegistryClientOptions = {}): RegistryClient {
  return new GrpcRegistryClient(targets, options);
}

type Entries = Readonly<Record<string, string>>;

class GrpcRegistryClient implements RegistryClient {
  readonly target: string;
  readonly #channels: FailOver<GrpcChannel>;
  readonly #options: GrpcRegistryClientOptions;

  constructor(targets: string, options: GrpcRegistryClientOptions) {
    const names = splitTargets(targets);
    const maxAnswerBytes = options.maxAnswerBytes ?? 8 * 1024 * 1024;
    this.#channels = new FailOver(names.map((name) => grpcChannel(name, maxAnswerBytes)));
    this.target = names.join(',');
    this.#options = options;
  }

  async register(manifest: Manifest, options: RegisterOptions): Promise<wire.RegisterResponse> {
    const { joinToken } = this.#options;
    const metadata = {
      ...bearer(options.ownerToken),
      ...(joinToken === undefined ? {} : { 'parley-join-token': joinToken }),
    };
    return this.#call(RegistryService.method.register, { manifest }, wire.registerResponse, options, { metadata });
  }

  async renew(agentId: string, options: OwnerCallOptions): Promise<wire.Lease> {
    const metadata = bearer(options.ownerToken);
    const input = { agent_id: agentId };
    return (await this.#call(RegistryService.method.renewLease, input, wire.renewLeaseResponse, options, { metadata }))
      .lease;
  }

  async deregister(agentId: string, options: OwnerCallOptions): Promise<void> {
    const metadata = bearer(options.ownerToken);
    await this.#exchange(RegistryService.method.deregister, { agent_id: agentId }, options, { metadata });
  }

  discover(requiredCapabilities: readonly string[], options: DiscoverOptions): Promise<wire.DiscoveryResponse> {
    const input = { required_capabilities: requiredCapabilities, ...withoutCall(options) };
    return this.#call(RegistryService.method.discover, input, wire.discoveryResponse, options);
  }

  list(options: ListOptions): Promise<wire.ListAgentsResponse> {
    return this.#call(RegistryService.method.listAgents, withoutCall(options), wire.listAgentsResponse, options);
  }

  get(agentId: string, options: CallOptions): Promise<wire.GetAgentResponse> {
    return this.#call(RegistryService.method.getAgent, { agent_id: agentId }, wire.getAgentResponse, options);
  }

  brokerNegotiation(
    request: wire.BrokerNegotiationRequest,
    options: CallOptions,
  ): Promise<wire.BrokerNegotiationResponse> {
    const timeoutMs = options.timeoutMs ?? BROKER_TIMEOUT_MS;
    const schema = wire.brokerNegotiationResponse;
    return this.#call(
      RegistryService.method.brokerNegotiation,
      request,
      schema,
      { ...options, timeoutMs },
      { once: true },
    );
  }

  reportAgreement(agreement: Agreement, options: OwnerCallOptions): Promise<wire.ReportAgreementResponse> {
    const metadata = bearer(options.ownerToken);
    const schema = wire.reportAgreementResponse;
    return this.#call(RegistryService.method.reportAgreement, { agreement }, schema, options, { metadata });
  }

  watch(options: WatchOptions): AsyncIterable<wire.WatchEvent> {
    return followWatch({
      ...options,
      now: this.#options.now ?? Date.now,
      random: this.#options.random ?? Math.random,
      open: (connection) => this.#openWatch(connection, options.agentIds),
    });
  }

  close(): Promise<void> {
    for (const channel of this.#channels.doors) channel.close();
    return Promise.resolve();
  }

  async *#openWatch(
    connection: WatchConnection,
    agentIds: readonly string[] | undefined,
  ): AsyncGenerator<wire.WatchEvent> {
    const { door, failed } = this.#channels.pick();
    const input = { after_revision: connection.afterRevision, agent_ids: agentIds };
    try {
      for await (const message of door.stream(RegistryService.method.watch, input, connection)) {
        yield checkShape(wire.watchEvent, message);
      }
    } finally {
      if (!connection.signal.aborted) failed();
    }
  }

  async #call<T>(
    method: DescMethod,
    input: object,
    schema: z.ZodType<T>,
    options: CallOptions,
    extra: { metadata?: Entries; once?: boolean } = {},
  ): Promise<T> {
    return checkShape(schema, await this.#exchange(method, input, options, extra));
  }

  async #exchange(
    method: DescMethod,
    input: object,
    options: CallOptions,
    { metadata = {}, once }: { metadata?: Entries; once?: boolean } = {},
  ): Promise<unknown> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 3_000;
    const { signal } = options;
    try {
      return await this.#channels.call(
        (channel) => channel.unary(method, input, { signal, metadata, timeoutMs }),
        once,
      );
    } catch (error) {
      throw AppError.from(error);
    }
  }
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function withoutCall<T extends CallOptions>(options: T): Omit<T, 'signal' | 'timeoutMs'> {
  const { signal: _, timeoutMs: __, ...rest } = options;
  return rest;
}
