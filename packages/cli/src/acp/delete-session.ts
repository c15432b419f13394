import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionStorage } from '@parley/harness';

/**
 * Removes a session that no process runs. Its file is the one that `JsonlSessionStorage` documents.
 *
 * @throws SessionLockTimeoutError if a run of it is active.
 */
export async function deleteSession(storage: SessionStorage, sessionsDir: string, sessionId: string): Promise<void> {
  const lock = await storage.lockRun(sessionId, { waitMs: 0 });
  try {
    const name = createHash('sha256').update(sessionId, 'utf8').digest('hex');
    await rm(join(sessionsDir, `${name}.jsonl`), { force: true });
  } finally {
    lock.release();
  }
}
