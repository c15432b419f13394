import { GrpcVoice } from './grpc-voice.js';
import { JsonRpcVoice } from './json-rpc-voice.js';
import { RestVoice } from './rest-voice.js';
import type { Address, Binding, Version, Voice } from './voice.js';

const BINDINGS: readonly Binding[] = ['JSON-RPC', 'HTTP+JSON', 'gRPC'];
const VERSIONS: readonly Version[] = ['1.0', '0.3'];

/** Every binding in every version. */
export const WIRES = VERSIONS.flatMap((version) => BINDINGS.map((binding) => ({ version, binding })));

export interface Wire {
  readonly binding: Binding;
  readonly version: Version;
}

export function voiceFor({ binding, version }: Wire, address: Address): Voice {
  if (binding === 'JSON-RPC') return new JsonRpcVoice(address, version);
  return binding === 'gRPC' ? new GrpcVoice(address, version) : new RestVoice(address, version);
}
