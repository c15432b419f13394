import { HarnessError } from '../errors.js';
import { SessionStorageError } from './session-errors.js';

/** What went wrong with a file, with the system's code (such as ENOSPC) and without its path. */
export function storageError(message: string, error: unknown): Error {
  if (error instanceof HarnessError) return error;
  const code = systemCode(error);
  return new SessionStorageError(code === undefined ? message : `${message}: ${code}`, { cause: error });
}

/** The code of an error of the system, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
