import { jest } from '@jest/globals';
import { WarmPool, type PooledChild } from './warm-pool.js';

class FakeChild implements PooledChild {
  readonly #lost = Promise.withResolvers<undefined>();
  readonly #gone = Promise.withResolvers<undefined>();
  readonly lost = this.#lost.promise;
  isAlive = true;
  ends = 0;

  die(): void {
    this.isAlive = false;
    this.#lost.resolve(undefined);
  }

  leave(): void {
    this.#gone.resolve(undefined);
  }

  async end(): Promise<void> {
    this.ends += 1;
    this.isAlive = false;
    await this.#gone.promise;
  }
}

const IDLE_MS = 1_000;

describe('a pool of warm children', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('gives what it got, the last one first, each to one taker', () => {
    const pool = new WarmPool<FakeChild>({ size: 2, idleMs: IDLE_MS });
    const [first, second] = [new FakeChild(), new FakeChild()];
    expect([pool.put(first), pool.put(second)]).toEqual([true, true]);
    expect([pool.take(), pool.take(), pool.take()]).toEqual([second, first, undefined]);
  });

  it('takes no more than fit, and leaves the others to their giver', () => {
    const pool = new WarmPool<FakeChild>({ size: 1, idleMs: IDLE_MS });
    const late = new FakeChild();
    pool.put(new FakeChild());
    expect(pool.put(late)).toBe(false);
    expect(late.ends).toBe(0);
  });

  it('ends one that waits too long, and none that was taken in time', () => {
    const pool = new WarmPool<FakeChild>({ size: 2, idleMs: IDLE_MS });
    const [idle, taken] = [new FakeChild(), new FakeChild()];
    pool.put(idle);
    pool.put(taken);
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(pool.take()).toBe(taken);
    jest.advanceTimersByTime(1);
    expect([idle.ends, taken.ends, pool.idleCount]).toEqual([1, 0, 0]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begins to count anew when a child comes back', () => {
    const pool = new WarmPool<FakeChild>({ size: 1, idleMs: IDLE_MS });
    const child = new FakeChild();
    pool.put(child);
    jest.advanceTimersByTime(IDLE_MS - 1);
    pool.take();
    pool.put(child);
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(pool.take()).toBe(child);
  });

  it('notices that one died while it waited, cleans up after it, and has room again', async () => {
    const pool = new WarmPool<FakeChild>({ size: 1, idleMs: IDLE_MS });
    const child = new FakeChild();
    pool.put(child);
    child.die();
    await Promise.resolve();
    await Promise.resolve();
    expect([child.ends, pool.idleCount]).toEqual([1, 0]);
    expect(pool.put(new FakeChild())).toBe(true);
  });

  it('neither gives nor takes one that is dead', () => {
    const pool = new WarmPool<FakeChild>({ size: 2, idleMs: IDLE_MS });
    const [living, dead] = [new FakeChild(), new FakeChild()];
    pool.put(living);
    pool.put(dead);
    // Nobody has been told yet.
    dead.isAlive = false;
    expect(pool.take()).toBe(living);
    expect(dead.ends).toBe(1);
    expect(pool.put(dead)).toBe(false);
  });

  it('does not end one that died when it was taken', async () => {
    const pool = new WarmPool<FakeChild>({ size: 1, idleMs: IDLE_MS });
    const child = new FakeChild();
    pool.put(child);
    pool.take();
    child.die();
    await Promise.resolve();
    await Promise.resolve();
    expect(child.ends).toBe(0);
  });

  it('is closed when all that it had are gone, those too that were ended before, and takes none any more', async () => {
    const pool = new WarmPool<FakeChild>({ size: 2, idleMs: IDLE_MS });
    const [idle, ending] = [new FakeChild(), new FakeChild()];
    pool.put(ending);
    jest.advanceTimersByTime(IDLE_MS);
    pool.put(idle);
    let isClosed = false;
    const closing = pool.close().then(() => {
      isClosed = true;
    });
    idle.leave();
    await Promise.resolve();
    expect([isClosed, idle.ends]).toEqual([false, 1]);
    ending.leave();
    await closing;
    expect(pool.put(new FakeChild())).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });
});
