export { connectRegistry, type ConnectRegistryOptions } from './connect-registry.js';
export { grpcRegistryClient, type GrpcRegistryClientOptions } from './grpc-registry-client.js';
export { httpRegistryClient, type HttpRegistryClientOptions } from './http-registry-client.js';
export type {
  CallOptions,
  DiscoverOptions,
  DiscoveryOrder,
  ListOptions,
  OwnerCallOptions,
  RegisterOptions,
  RegistryClient,
  WatchOptions,
} from './registry-client.js';
export { parseSse, type ServerSentEvent, type SseOptions } from './sse.js';
export {
  ATTEMPT_OUTCOMES,
  brokerNegotiationResponse,
  registeredAgent,
  watchEvent,
  type AttemptOutcome,
  type BrokerNegotiationRequest,
  type BrokerNegotiationResponse,
  type DiscoveryResponse,
  type GetAgentResponse,
  type Lease,
  type ListAgentsResponse,
  type NegotiationAttempt,
  type RegisteredAgent,
  type RegisterResponse,
  type ReportAgreementResponse,
  type WatchEvent,
} from './wire.js';
