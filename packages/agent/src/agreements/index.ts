export { createAgreementKeeper } from './agreement-keeper.js';
export type { AgreementRecord, EndedBy } from './agreement-record.js';
export type {
  AgreementStore,
  CallClaim,
  CallClaimResult,
  CallUsage,
  CommitResult,
  ListFilter,
  ListPage,
  SessionCommit,
} from './agreement-store.js';
export type {
  AgreementEvent,
  AgreementEventType,
  AgreementKeeper,
  AgreementKeeperOptions,
  AgreementListener,
  AgreementPage,
  CallReservation,
  ConfirmInput,
  EndInput,
  GetInput,
  KeeperMetrics,
  ListInput,
  NegotiationCaller,
  RenewalPolicy,
  RenewInput,
  ReserveCallInput,
  SuspendResult,
} from './keeper-types.js';
export { createMemoryAgreementStore, type MemoryStoreOptions } from './memory-store.js';
export { createRedisAgreementStore, type RedisStoreOptions } from './redis-store.js';
export { DEFAULT_KEEPER_SETTINGS, type KeeperSettings } from './settings.js';
export { AGREEMENT_MACHINE, deadlineOf, type AgreementChange, type Deadline } from './transitions.js';
