import { grpcRegistryClient } from './grpc-registry-client.js';
import { httpRegistryClient } from './http-registry-client.js';
import type { RegistryClient } from './registry-client.js';

export interface ConnectRegistryOptions {
  /** Longest time for one attempt at one registry. Default 3,000. */
  readonly timeoutMs?: number;
  /** `REGISTRY_JOIN_TOKEN` of the registry, when it wants one. */
  readonly joinToken?: string;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** The client for a registry's URL: `grpc://` and `grpcs://` over gRPC, `http://` and `https://` over HTTP. */
export function connectRegistry(registryUrl: string, options: ConnectRegistryOptions = {}): RegistryClient {
  const isGrpc = /^\s*grpcs?:\/\//u.test(registryUrl);
  return isGrpc ? grpcRegistryClient(registryUrl, options) : httpRegistryClient(registryUrl, options);
}
