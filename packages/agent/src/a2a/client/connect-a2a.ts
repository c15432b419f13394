import { type AgentCard } from '@a2a-js/sdk';
import {
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { AppError, silentLogger, type Logger } from '@parley/service-kit';
import { deadline } from '../../peer/deadline.js';
import type { A2aBinding, A2aConnection } from './a2a-connection.js';
import { checkedCard, fetchCard } from './agent-card.js';
import { GuardedGrpcFactory } from './guarded-grpc.js';
import { guardedFetch, type GuardedFetchOptions } from './guarded-fetch.js';
import { DEFAULT_A2A_TIMEOUTS, SdkConnection, type A2aTimeouts } from './sdk-connection.js';
import { callError } from './wire-errors.js';

export interface ConnectA2aOptions {
  /** Where the agent is, or its card. Needed without `card`. */
  readonly url?: string;
  /** A card that is at hand already, of 1.0 or 0.3. */
  readonly card?: AgentCard | Readonly<Record<string, unknown>>;
  /** Which bindings may be used, the preferred one first. Default: JSONRPC, HTTP+JSON, GRPC. */
  readonly bindings?: readonly A2aBinding[];
  /** Sent with every call, the one for the card included; for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: Partial<A2aTimeouts>;
  /** Address rules and bounds. Default: private addresses may be called. */
  readonly peer?: GuardedFetchOptions;
  /** Bounds the connecting only. */
  readonly signal?: AbortSignal;
  readonly logger?: Logger;
}

const ALL_BINDINGS: readonly A2aBinding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/**
 * Reads the card of an agent and chooses how to speak with it.
 *
 * @example
 * const agent = await connectA2a({ url: 'http://127.0.0.1:8002' });
 * for await (const update of agent.stream([{ kind: 'text', text: 'hello' }])) console.log(update.kind);
 * await agent.close();
 *
 * @throws AppError as {@link A2aConnection} does; not_found `card_not_found`; failed_precondition `no_common_binding`.
 */
export async function connectA2a(options: ConnectA2aOptions): Promise<A2aConnection> {
  const timeouts = { ...DEFAULT_A2A_TIMEOUTS, ...options.timeouts };
  const http = guardedFetch(options.peer);
  const grpc = new GuardedGrpcFactory({ allowPrivateAddresses: options.peer?.allowPrivateAddresses ?? true });
  const close = async (): Promise<void> => {
    grpc.close();
    await http.close();
  };
  const limit = deadline(timeouts.cardMs, options.signal);
  const bounds = { caller: options.signal, limit: limit.signal, deadlineMs: timeouts.cardMs };
  try {
    const card = await cardFor(options, http.fetch, limit.signal);
    const bindings = options.bindings ?? ALL_BINDINGS;
    ensureCommonBinding(card, bindings);
    const client = await new ClientFactory({
      transports: bindings.map((binding) => transportFactory(binding, http.fetch, grpc)),
      preferredTransports: [...bindings],
    }).createFromAgentCard(card);
    return new SdkConnection({
      client,
      card,
      timeouts,
      headers: options.headers ?? {},
      logger: options.logger ?? silentLogger,
      close,
    });
  } catch (error) {
    await close();
    throw callError(error, bounds);
  } finally {
    limit.clear();
  }
}

async function cardFor(
  options: ConnectA2aOptions,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<AgentCard> {
  if (options.card !== undefined) return checkedCard(options.card);
  if (options.url === undefined) throw new TypeError('a url or a card is needed');
  return fetchCard(options.url, { fetch, signal, headers: options.headers ?? {} });
}

function transportFactory(binding: A2aBinding, fetchImpl: typeof fetch, grpc: GuardedGrpcFactory): TransportFactory {
  const http = { fetchImpl, legacyCompat: { enabled: true } };
  if (binding === 'GRPC') return grpc;
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- its options are a shape, and no class at run time
  return binding === 'JSONRPC' ? new JsonRpcTransportFactory(http) : new RestTransportFactory(http);
}

function ensureCommonBinding({ supportedInterfaces }: AgentCard, bindings: readonly A2aBinding[]): void {
  const offered = supportedInterfaces.map(({ protocolBinding }) => protocolBinding.toUpperCase());
  if (bindings.some((binding) => offered.includes(binding))) return;
  throw new AppError('failed_precondition', `The agent offers none of ${bindings.join(', ')}.`, {
    code: 'no_common_binding',
  });
}
