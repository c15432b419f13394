import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from '@parley/service-kit';
import { DiskFactLog } from './disk-fact-log.js';
import type { FactLog } from './fact-log.js';
import { realFiles, type FileLayer } from './file-layer.js';
import { FolderLock } from './folder-lock.js';
import { FolderSync } from './folder-sync.js';

export interface OpenFactLogOptions {
  /** PROXY_STATE_DIR; made if it is not there, for its owner only. */
  readonly dir: string;
  readonly logger: Logger;
  /** Descriptors kept open. Default 64. */
  readonly maxOpenFiles?: number;
  /** Bytes of one file that may wait to be written. Default 256 MiB. */
  readonly maxWaitingBytes?: number;
  /** The size from which `proxy.jsonl` is rewritten with what still counts. Default 1 MiB. */
  readonly compactAtBytes?: number;
  readonly files?: FileLayer;
}

/**
 * Opens the journal in a folder: `load` it before the first `append`.
 *
 * @throws FolderInUseError if another process has it.
 */
export async function openFactLog(options: OpenFactLogOptions): Promise<FactLog> {
  const { dir, logger, files = realFiles } = options;
  const madeDir = mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  if (madeDir !== undefined) await new FolderSync(dirname(madeDir), files).sync();
  const lock = FolderLock.acquire(dir);
  try {
    const log = new DiskFactLog({
      dir,
      logger,
      files,
      lock,
      maxOpenFiles: options.maxOpenFiles ?? 64,
      maxWaitingBytes: options.maxWaitingBytes ?? 256 * 1024 * 1024,
      compactAtBytes: options.compactAtBytes ?? 1024 * 1024,
    });
    await log.sync();
    return log;
  } catch (error) {
    lock.release();
    throw error;
  }
}
