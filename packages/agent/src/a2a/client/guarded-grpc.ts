import { lookup } from 'node:dns/promises';
import type { AgentCard } from '@a2a-js/sdk';
import type { Transport, TransportFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { credentials } from '@grpc/grpc-js';
import { AppError } from '@parley/service-kit';
import { isAllowedAddress, targetRefused, type AddressPolicy } from '../../peer/check-address.js';
import { peerUnreachable } from '../../peer/peer-errors.js';

/** The protocol's gRPC transport behind the address rules of the peer room. */
export class GuardedGrpcFactory implements TransportFactory {
  readonly protocolName = 'GRPC';
  readonly #policy: AddressPolicy;
  readonly #transports: Transport[] = [];

  constructor(policy: AddressPolicy) {
    this.#policy = policy;
  }

  /** @param url `host:port`, or with `grpc://`, `grpcs://`, `http://`, `https://` before it; those with `s` mean TLS. */
  async create(url: string, card: AgentCard): Promise<Transport> {
    const target = await this.#target(url);
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- its options are a shape, and no class at run time
    const factory = new GrpcTransportFactory({
      grpcChannelCredentials: target.tls ? credentials.createSsl() : credentials.createInsecure(),
      legacyCompat: { enabled: true },
    });
    // The library looks the protocol's version up by the address that it is given.
    const supportedInterfaces = card.supportedInterfaces.map((one) =>
      one.url === url ? { ...one, url: target.address } : one,
    );
    const transport = await factory.create(target.address, { ...card, supportedInterfaces });
    this.#transports.push(transport);
    return transport;
  }

  close(): void {
    for (const transport of this.#transports) {
      // The library keeps its channel to itself and has no way to close it.
      (transport as { readonly grpcClient?: { close?: () => void } }).grpcClient?.close?.();
    }
  }

  async #target(url: string): Promise<{ readonly address: string; readonly tls: boolean }> {
    const [, scheme = '', bare = ''] = /^(?:(grpcs?|https?):\/\/)?([^/]+)\/?$/u.exec(url) ?? [];
    const [, host = '', port = ''] = /^(?:dns:)?(.+):(\d{1,5})$/u.exec(bare) ?? [];
    if (host === '') {
      throw new AppError('invalid_request', 'The gRPC interface of the card has no host and port.', {
        code: 'target_invalid',
      });
    }
    const found = await lookup(host.replace(/^\[|\]$/gu, ''), { all: true }).catch((error: unknown) => {
      throw peerUnreachable(error);
    });
    const allowed = found.find(({ address }) => isAllowedAddress(address, this.#policy));
    if (allowed === undefined) throw targetRefused();
    const tls = scheme.endsWith('s');
    // TLS proves the name, so the name may be asked for again; without it, only the address that was checked is dialled.
    if (tls) return { address: bare, tls };
    return {
      address: allowed.family === 6 ? `ipv6:[${allowed.address}]:${port}` : `ipv4:${allowed.address}:${port}`,
      tls,
    };
  }
}
