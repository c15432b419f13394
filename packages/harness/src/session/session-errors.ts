import { HarnessError } from '../errors.js';

/** Base of what the session journal throws. The base itself stands for a request that the journal cannot meet. */
export class SessionError extends HarnessError {
  override readonly name: string = 'SessionError';
}

/** Where in a journal file something is wrong. */
export interface JournalPosition {
  /** Name of the file, without its folder. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Byte at which the line begins, from 0. */
  readonly offset: number;
}

/** Stored data is broken, of a newer version or contradicts itself, or data to be stored is no JSON. */
export class SessionSerializationError extends SessionError {
  override readonly name: string = 'SessionSerializationError';
  /** Where the first broken line is; `repair` keeps what comes before it. Undefined for data outside of a file. */
  readonly position: JournalPosition | undefined;

  constructor(message: string, options: { readonly cause?: unknown; readonly position?: JournalPosition } = {}) {
    const { position } = options;
    const where = position === undefined ? '' : ` (${position.file}, line ${position.line}, byte ${position.offset})`;
    super('session_serialization', message + where, options);
    this.position = position;
  }
}

/** The storage could not be read or written; what was acknowledged before is still there. */
export class SessionStorageError extends SessionError {
  override readonly name: string = 'SessionStorageError';

  constructor(message: string, options?: { readonly cause?: unknown }, code = 'session_storage') {
    super(code, message, options);
  }
}

/** The history is not what the writer believed it to be: load it again before going on. */
export class SessionConflictError extends SessionStorageError {
  override readonly name: string = 'SessionConflictError';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options, 'session_conflict');
  }
}

/** Somebody else held a lock for longer than the caller would wait. */
export class SessionLockTimeoutError extends SessionStorageError {
  override readonly name: string = 'SessionLockTimeoutError';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options, 'session_lock_timeout');
  }
}
