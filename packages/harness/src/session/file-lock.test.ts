import { getEventListeners } from 'node:events';
import { existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { FileLock } from './file-lock.js';
import { SessionLockTimeoutError, SessionStorageError } from './session-errors.js';
import { TemporaryFolder } from './sessions.test-helper.js';

describe('a file lock', () => {
  let folder: TemporaryFolder;
  let path: string;

  beforeEach(() => {
    folder = new TemporaryFolder();
    path = join(folder.path, 'new', 'x.lock');
  });

  afterEach(() => folder.remove());

  it('goes from holder to holder in the order of asking', async () => {
    const order: number[] = [];
    const locks = [0, 1, 2, 3].map(() => new FileLock(path));
    await Promise.all(
      locks.map(async (lock, at) => {
        await lock.acquire({ waitMs: 1_000 });
        order.push(at);
        lock.release();
      }),
    );
    for (const lock of locks) lock.close();
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('waits for a descriptor that others hold, until the deadline or the signal', async () => {
    const lock = new FileLock(path);
    await lock.acquire({ waitMs: 0 });
    lock.release();
    lock.close();
    const foreign = openSync(path, 'a');
    expect(tryLock(foreign)).toBe(true);
    await expect(lock.acquire({ waitMs: 0 })).rejects.toThrow(SessionLockTimeoutError);
    await expect(lock.acquire({ waitMs: 20 })).rejects.toThrow(SessionLockTimeoutError);
    const controller = new AbortController();
    const waiting = lock.acquire({ waitMs: 60_000, signal: controller.signal });
    // Behind the poll of the first in line, in the line of this process.
    const second = lock.acquire({ waitMs: 60_000, signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(second).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    lock.close();
  });

  it('is not fooled by a file that was removed and made again', async () => {
    const first = new FileLock(path);
    await first.acquire({ waitMs: 0 });
    first.release();
    rmSync(path);
    writeFileSync(path, '');
    const foreign = openSync(path, 'a');
    expect(tryLock(foreign)).toBe(true);
    await expect(first.acquire({ waitMs: 10 })).rejects.toThrow(SessionLockTimeoutError);
  });

  it('leaves no file where it is told to', async () => {
    const lock = new FileLock(path, true);
    await lock.acquire({ waitMs: 0 });
    expect(existsSync(path)).toBe(true);
    lock.release();
    expect(existsSync(path)).toBe(false);
    lock.release();
    await lock.acquire({ waitMs: 0 });
    lock.release();
  });

  it('says what keeps it from being taken', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    const lock = new FileLock(join(file, 'x.lock'));
    await expect(lock.acquire({ waitMs: 0 })).rejects.toThrow(SessionStorageError);
    await expect(lock.acquire({ waitMs: 0 })).rejects.toThrow(/cannot be locked: E[A-Z]+$/);
  });
});
