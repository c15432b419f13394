export { backoffMs, jitter, type BackoffOptions } from './backoff.js';
export {
  checkAddress,
  classifyAddress,
  isAllowedAddress,
  type AddressKind,
  type AddressPolicy,
} from './check-address.js';
export { createPeerHttp } from './create-peer-http.js';
export { isTransient, neverSent, type PeerErrorCode } from './peer-errors.js';
export type { HttpMethod, PeerAnswer, PeerHttp, PeerHttpOptions, PeerRequest, PeerStreamRequest } from './peer-http.js';
export { wait } from './wait.js';
