import { isIPv6 } from 'node:net';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** One server under one address. */
export interface SingleRedis extends Credentials {
  /** `redis://[user:password@]host:port/db` or `rediss://...`. */
  readonly url: string;
}

/** A master that sentinels watch, and replace when it dies. */
export interface SentinelRedis extends Credentials {
  readonly sentinels: readonly ServerAddress[];
  /** The name under which the sentinels know it. */
  readonly masterName: string;
  readonly sentinelPassword?: string;
  /** Default false. For the sentinels too. */
  readonly tls?: boolean;
}

/** A Redis Cluster, of which the connection uses the one node that serves its hash tag. */
export interface ClusterRedis extends Credentials {
  /** Some of its nodes; the others are learned from them. */
  readonly clusterNodes: readonly ServerAddress[];
  /** Default false. */
  readonly tls?: boolean;
}

export type RedisTarget = SingleRedis | SentinelRedis | ClusterRedis;

/** Reads `host:port` (`[::1]:6379` for IPv6). Undefined when it is none. */
export function parseAddress(text: string): ServerAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/@[\],]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  return bracketed === undefined || isIPv6(bracketed) ? { host, port } : undefined;
}

export function formatAddress({ host, port }: ServerAddress): string {
  return host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
}
