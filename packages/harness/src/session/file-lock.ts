import { closeSync, fstatSync, openSync, statSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock, unlock } from 'fs-native-extensions';
import { ensureFolder } from './durable-files.js';
import { isSameFile, type FileIdentity } from './file-identity.js';
import { Mutex, type MutexWait } from './mutex.js';
import { SessionLockTimeoutError } from './session-errors.js';
import { storageError } from './storage-error.js';

const FIRST_POLL_MS = 1;
const SLOWEST_POLL_MS = 32;

/** Holders of one process wait in line here; the kernel would make them poll. */
const mutexes = new Map<string, Mutex>();

/**
 * An exclusive lock on a file, held against this process and others. The kernel gives it free when the holder's
 * process ends, however it ends. Waiting is polling: a thread that waits in the kernel could not be called back.
 */
export class FileLock {
  #fd: number | null = null;
  #identity: FileIdentity | null = null;

  /** @param removeAfter Whether the file is removed when the lock is released. */
  constructor(
    private readonly path: string,
    private readonly removeAfter = false,
  ) {}

  /** @throws SessionLockTimeoutError, SessionStorageError, or the reason of the signal. */
  async acquire({ signal, waitMs }: MutexWait): Promise<void> {
    const deadline = performance.now() + waitMs;
    const mutex = mutexes.get(this.path) ?? new Mutex();
    mutexes.set(this.path, mutex);
    await mutex.acquire({ signal, waitMs });
    try {
      await this.#poll(deadline, signal);
    } catch (error) {
      this.close();
      this.#leave(mutex);
      throw error;
    }
  }

  /** To be called by the holder only. */
  release(): void {
    const mutex = mutexes.get(this.path);
    const fd = this.#fd;
    if (mutex === undefined || fd === null) return;
    if (this.removeAfter) this.#remove();
    else unlock(fd);
    this.#leave(mutex);
  }

  /** Gives the descriptor back, and with it the lock. */
  close(): void {
    if (this.#fd === null) return;
    closeSync(this.#fd);
    this.#fd = null;
  }

  async #poll(deadline: number, signal: AbortSignal | undefined): Promise<void> {
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 2, SLOWEST_POLL_MS)) {
      if (this.#try()) return;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new SessionLockTimeoutError('the session is in use by another process');
      try {
        await sleep(Math.min(pollMs, leftMs), undefined, signal === undefined ? {} : { signal });
      } catch {
        // Only the signal ends the sleep early; its own reason says more.
        signal?.throwIfAborted();
      }
    }
  }

  #try(): boolean {
    try {
      for (;;) {
        const fd = this.#fd ?? this.#open();
        if (!tryLock(fd)) return false;
        const named = statSync(this.path, { throwIfNoEntry: false });
        if (named !== undefined && isSameFile(this.#identity, named)) return true;
        // The holder before removed the file: a lock on it would exclude nobody.
        this.close();
      }
    } catch (error) {
      throw storageError('the session cannot be locked', error);
    }
  }

  #open(): number {
    ensureFolder(dirname(this.path));
    const fd = openSync(this.path, 'a', 0o600);
    this.#fd = fd;
    this.#identity = fstatSync(fd);
    return fd;
  }

  /** While the lock is still held: whoever waits on this file finds that it is gone, and opens the new one. */
  #remove(): void {
    try {
      unlinkSync(this.path);
    } catch {
      // Left behind it hurts nobody.
    }
    this.close();
  }

  #leave(mutex: Mutex): void {
    mutex.release();
    if (mutex.idle) mutexes.delete(this.path);
  }
}
