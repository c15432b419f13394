import { AppError } from '@parley/service-kit';
import { z } from 'zod';
import { createPeerHttp } from '../peer/create-peer-http.js';
import type { PeerAnswer, PeerHttp, PeerRequest } from '../peer/peer-http.js';
import { checkShape } from '../peer/read-answer.js';
import type { Agreement } from '../wire/agreement.js';
import type { Manifest } from '../wire/manifest.js';
import { FailOver, splitTargets } from './fail-over.js';
import { followWatch, type WatchConnection } from './follow-watch.js';
import type {
  CallOptions,
  DiscoverOptions,
  ListOptions,
  OwnerCallOptions,
  RegisterOptions,
  RegistryClient,
  WatchOptions,
} from './registry-client.js';
import { parseSse } from './sse.js';
import { silenceGuard } from './silence-guard.js';
import * as wire from './wire.js';

export interface HttpRegistryClientOptions {
  /** Longest time for one attempt at one registry. Default 3,000. */
  readonly timeoutMs?: number;
  /** Default 8 MiB. */
  readonly maxAnswerBytes?: number;
  /** `REGISTRY_JOIN_TOKEN` of the registry, when it wants one. */
  readonly joinToken?: string;
  /** Without a byte for this long a watch is taken for dead. Default 45,000: three keep-alives. */
  readonly watchSilenceMs?: number;
  /** A client to share; it is not closed then. */
  readonly http?: PeerHttp;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Above this a discovery travels as a body: proxies cut long request lines. */
const MAX_QUERY_CHARS = 4_000;
/** A broker asks several candidates in turn. */
const BROKER_TIMEOUT_MS = 16_000;

/**
 * A registry over HTTP.
 * @param urls base URL; several separated by commas are doors to the same registry and stand in for each other.
 */
export function httpRegistryClient(urls: string, options: HttpRegistryClientOptions = {}): RegistryClient {
  return new HttpRegistryClient(urls, options);
}

class HttpRegistryClient implements RegistryClient {
  readonly target: string;
  readonly #bases: FailOver<string>;
  readonly #http: PeerHttp;
  readonly #options: HttpRegistryClientOptions;

  constructor(urls: string, options: HttpRegistryClientOptions) {
    const bases = splitTargets(urls);
    for (const base of bases) {
      if (!/^https?:\/\//iu.test(base) || !URL.canParse(base)) {
        throw new AppError('invalid_request', `Not an http or https URL of a registry: ${base}`, {
          code: 'registry_invalid',
        });
      }
    }
    this.#bases = new FailOver(bases);
    this.target = bases.join(',');
    this.#options = options;
    this.#http = options.http ?? createPeerHttp({ timeoutMs: options.timeoutMs ?? 3_000 });
  }

  async register(manifest: Manifest, options: RegisterOptions): Promise<wire.RegisterResponse> {
    const headers = { ...bearer(options.ownerToken), ...this.#join() };
    const answer = await this.#call('POST', '/register', wire.registerResponse, options, { body: manifest, headers });
    // 200 replaces a living registration, 201 makes one.
    return { ...answer.body, replaced: answer.body.replaced || answer.status === 200 };
  }

  async renew(agentId: string, options: OwnerCallOptions): Promise<wire.Lease> {
    const path = `/agents/${encodeURIComponent(agentId)}/lease`;
    const headers = bearer(options.ownerToken);
    return (await this.#call('PUT', path, wire.renewLeaseResponse, options, { headers })).body.lease;
  }

  async deregister(agentId: string, options: OwnerCallOptions): Promise<void> {
    const path = `/agents/${encodeURIComponent(agentId)}`;
    await this.#call('DELETE', path, z.unknown(), options, { headers: bearer(options.ownerToken) });
  }

  async discover(requiredCapabilities: readonly string[], options: DiscoverOptions): Promise<wire.DiscoveryResponse> {
    const query = listQuery(options);
    query.set('capabilities', requiredCapabilities.join(','));
    if (options.exclude !== undefined && options.exclude.length > 0) query.set('exclude', options.exclude.join(','));
    if (options.explain === true) query.set('explain', 'true');
    const text = query.toString();
    if (text.length <= MAX_QUERY_CHARS) {
      return (await this.#call('GET', `/discover?${text}`, wire.discoveryResponse, options)).body;
    }
    const { signal: _, timeoutMs: __, ...rest } = options;
    const body = { required_capabilities: requiredCapabilities, ...rest };
    return (await this.#call('POST', '/discover', wire.discoveryResponse, options, { body })).body;
  }

  async list(options: ListOptions): Promise<wire.ListAgentsResponse> {
    const query = listQuery(options).toString();
    return (await this.#call('GET', `/agents${query === '' ? '' : `?${query}`}`, wire.listAgentsResponse, options))
      .body;
  }

  async get(agentId: string, options: CallOptions): Promise<wire.GetAgentResponse> {
    const path = `/agents/${encodeURIComponent(agentId)}`;
    return (await this.#call('GET', path, oneAgent, options)).body;
  }

  async brokerNegotiation(
    request: wire.BrokerNegotiationRequest,
    options: CallOptions,
  ): Promise<wire.BrokerNegotiationResponse> {
    const timeoutMs = options.timeoutMs ?? BROKER_TIMEOUT_MS;
    const call = { body: request, once: true };
    return (await this.#call('POST', '/negotiate', wire.brokerNegotiationResponse, { ...options, timeoutMs }, call))
      .body;
  }

  async reportAgreement(agreement: Agreement, options: OwnerCallOptions): Promise<wire.ReportAgreementResponse> {
    const call = { body: { agreement }, headers: bearer(options.ownerToken) };
    return (await this.#call('POST', '/agreements', wire.reportAgreementResponse, options, call)).body;
  }

  watch(options: WatchOptions): AsyncIterable<wire.WatchEvent> {
    return followWatch({
      ...options,
      now: this.#options.now ?? Date.now,
      random: this.#options.random ?? Math.random,
      open: (connection) => this.#openWatch(connection, options.agentIds),
    });
  }

  async close(): Promise<void> {
    if (this.#options.http === undefined) await this.#http.close();
  }

  async *#openWatch(
    connection: WatchConnection,
    agentIds: readonly string[] | undefined,
  ): AsyncGenerator<wire.WatchEvent> {
    const { door, failed } = this.#bases.pick();
    const query = agentIds === undefined ? '' : `?${new URLSearchParams({ agent_ids: agentIds.join(',') }).toString()}`;
    const guard = silenceGuard(this.#options.watchSilenceMs ?? 45_000, connection.signal);
    try {
      const chunks = await this.#http.openStream({
        url: `${door}/watch${query}`,
        signal: guard.signal,
        headers: connection.afterRevision === undefined ? {} : { 'last-event-id': String(connection.afterRevision) },
      });
      connection.opened();
      for await (const event of parseSse(chunks, { onActivity: guard.heard })) {
        yield checkShape(wire.watchEvent, parseData(event.data));
      }
    } finally {
      // However it was lost: the next connection tries the next door.
      if (!connection.signal.aborted) failed();
      guard.stop();
    }
  }

  #call<T>(
    method: PeerRequest<T>['method'],
    path: string,
    schema: z.ZodType<T>,
    options: CallOptions,
    extra: { body?: unknown; headers?: Readonly<Record<string, string>>; once?: boolean } = {},
  ): Promise<PeerAnswer<T>> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 3_000;
    return this.#bases.call(
      (base) =>
        this.#http.request({
          method,
          url: base + path,
          schema,
          signal: options.signal,
          timeoutMs,
          maxAnswerBytes: this.#options.maxAnswerBytes ?? 8 * 1024 * 1024,
          ...(extra.body === undefined ? {} : { body: extra.body }),
          ...(extra.headers === undefined ? {} : { headers: extra.headers }),
        }),
      extra.once,
    );
  }

  #join(): Record<string, string> {
    return this.#options.joinToken === undefined ? {} : { 'parley-join-token': this.#options.joinToken };
  }
}

/** The registry answers one agent as the manifest with its lease, or in the envelope of the contract. */
const oneAgent: z.ZodType<wire.GetAgentResponse> = z.union([
  wire.getAgentResponse,
  z
    .intersection(wire.registeredAgent, z.object({ stale_since: z.string().optional() }))
    .transform(({ stale_since, ...agent }): wire.GetAgentResponse => ({
      agent,
      ...(stale_since === undefined ? {} : { stale_since }),
    })),
]);

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function listQuery(options: ListOptions): URLSearchParams {
  const query = new URLSearchParams();
  const labels = Object.entries(options.labels ?? {}).map(([key, value]) => `${key}:${value}`);
  if (labels.length > 0) query.set('labels', labels.join(','));
  if (options.limit !== undefined) query.set('limit', String(options.limit));
  if (options.cursor !== undefined) query.set('cursor', options.cursor);
  if (options.order !== undefined) query.set('order', options.order);
  return query;
}

function parseData(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch (cause) {
    throw new AppError('bad_gateway', "The peer's answer is not valid: an event is not JSON.", {
      code: 'peer_invalid_answer',
      cause,
    });
  }
}
