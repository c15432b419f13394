export { JsonlSessionStorage, type JsonlSessionStorageOptions } from './jsonl-session-storage.js';
export { MemorySessionStorage, type MemorySessionStorageOptions } from './memory-session-storage.js';
export { openSession, type OpenedSession } from './open-session.js';
export { sessionFromJson, sessionToJson, type SessionContent } from './session-codec.js';
export {
  SessionConflictError,
  SessionError,
  SessionLockTimeoutError,
  SessionSerializationError,
  SessionStorageError,
  type JournalPosition,
} from './session-errors.js';
export type { RunOpening, SessionJournal } from './session-journal.js';
export { SessionRecorder, type SessionRecorderOptions, type UnfinishedRunPolicy } from './session-recorder.js';
export type {
  AbandonedRun,
  AbandonOptions,
  AppendOptions,
  BranchOptions,
  ForkOptions,
  NewBranchOptions,
  RepairReport,
  RetryOptions,
  RollbackOptions,
  RunLockOptions,
  SessionListing,
  SessionRunLock,
  SessionStorage,
} from './session-storage.js';
export {
  DEFAULT_SESSION_BRANCH,
  SESSION_JOURNAL_SCHEMA_VERSION,
  SESSION_RECORD_KINDS,
  SESSION_SCHEMA_VERSION,
  type AppliedCompaction,
  type Session,
  type SessionBranch,
  type SessionCheckout,
  type SessionCompaction,
  type SessionEntry,
  type SessionRecord,
  type SessionRecordDraft,
  type SessionRecordKind,
  type SessionRetry,
  type SessionRun,
  type StoredSession,
} from './session-types.js';
