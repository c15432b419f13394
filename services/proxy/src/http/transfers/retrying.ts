import { setTimeout as sleep } from 'node:timers/promises';
import { TransferFailure } from './transfer-failure.js';

const ATTEMPTS = 3;
const BACKOFF_MS = 1_000;

/** Tries a transfer up to three times, as long as its failure may heal and its grant is valid. */
export async function retrying<T>(expiresAt: number, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made += 1) {
    if (expiresAt <= Date.now()) throw new TransferFailure('grant_expired');
    try {
      return await attempt();
    } catch (error) {
      const failure = signal.aborted ? new TransferFailure('transfer_timeout', { cause: error }) : failureOf(error);
      if (made === ATTEMPTS || !failure.retryable || signal.aborted) throw failure;
    }
    await pause(BACKOFF_MS * 2 ** (made - 1), signal);
  }
}

/** Jittered, so that many who failed together do not come back together. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(delayMs * (0.5 + Math.random() / 2), undefined, { signal });
  } catch (error) {
    throw new TransferFailure('transfer_timeout', { cause: error });
  }
}

const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);
const FILE_FAULTS = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'ENOENT']);

function failureOf(error: unknown): TransferFailure {
  if (error instanceof TransferFailure) return error;
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  if (typeof code === 'string' && TIMEOUTS.has(code)) return new TransferFailure('transfer_timeout', { cause: error });
  if (typeof code === 'string' && FILE_FAULTS.has(code))
    return new TransferFailure('invalid_transfer', { cause: error });
  // What the client library cannot send at all, such as a header it reserves for itself, will not heal.
  if (code === 'UND_ERR_INVALID_ARG') return new TransferFailure('invalid_transfer', { cause: error });
  return new TransferFailure('transfer_unavailable', { cause: error });
}
