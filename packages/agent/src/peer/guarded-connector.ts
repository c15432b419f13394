import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, Socket, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAllowedAddress, targetRefused, type AddressPolicy } from './check-address.js';

export interface GuardedConnectorOptions extends AddressPolicy {
  readonly connectTimeoutMs: number;
}

export interface GuardedConnector {
  readonly connect: buildConnector.connector;
  /** Whether an error comes from a connection that had already carried an answer before. */
  readonly hitReusedSocket: (error: unknown) => boolean;
}

/**
 * Opens connections only to addresses that the policy allows. The check sits between name resolution and the
 * connection, so a name cannot mean one address when it is checked and another when it is called.
 */
export function guardedConnector(options: GuardedConnectorOptions): GuardedConnector {
  const open = buildConnector({
    timeout: options.connectTimeoutMs,
    allowH2: false,
    lookup: guardedLookup(options),
  });
  const reused = new WeakSet<object>();
  return {
    connect: (target, callback) => {
      const literal = target.hostname.replace(/^\[|\]$/gu, '');
      // An address needs no lookup, so the lookup below would never see it.
      if (isIP(literal) !== 0 && !isAllowedAddress(literal, options)) {
        callback(targetRefused(), null);
        return;
      }
      open(target, (...outcome) => {
        const [, socket] = outcome;
        // On failure it is absent, whatever the types say.
        if (socket instanceof Socket) {
          socket.on('error', (error: Error) => {
            if (hasAnswered(socket)) reused.add(error);
          });
        }
        callback(...outcome);
      });
    },
    hitReusedSocket: (error) =>
      error instanceof Error && (reused.has(error) || bytesRead((error as { socket?: unknown }).socket) > 0),
  };
}

function hasAnswered(socket: Socket): boolean {
  return socket.bytesRead > 0;
}

function bytesRead(socket: unknown): number {
  const count = (socket as { bytesRead?: unknown } | null | undefined)?.bytesRead;
  return typeof count === 'number' ? count : 0;
}

function guardedLookup(policy: AddressPolicy): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupOptions & { all: true } = { ...options, all: true };
    dnsLookup(hostname, all, (error, addresses: LookupAddress[]) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const allowed = addresses.filter(({ address }) => isAllowedAddress(address, policy));
      const [first] = allowed;
      if (first === undefined) callback(targetRefused(), []);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
