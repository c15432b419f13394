import { getEventListeners } from 'node:events';
import { Waiters } from './waiters.js';

describe('Waiters', () => {
  it.each([
    ['it happens', (waiters: Waiters) => waiters.wake()],
    ['the caller goes', (_: Waiters, leaving: AbortController) => leaving.abort()],
    ['its time is over', () => undefined],
  ])('wait until %s, and leave nothing behind', async (_, end) => {
    const waiters = new Waiters();
    const leaving = new AbortController();
    const waits = [waiters.wait(20, leaving.signal), waiters.wait(20, leaving.signal)];
    expect(waiters.size).toBe(2);
    end(waiters, leaving);
    await Promise.all(waits);
    expect([waiters.size, getEventListeners(leaving.signal, 'abort')]).toEqual([0, []]);
  });

  it('do not wait for a caller who has gone', async () => {
    const waiters = new Waiters();
    await waiters.wait(undefined, AbortSignal.abort());
    expect(waiters.size).toBe(0);
  });

  it('wake only those who wait by then', async () => {
    const waiters = new Waiters();
    let again: Promise<void> | undefined;
    const first = waiters.wait(undefined).then(() => {
      again = waiters.wait(undefined);
    });
    waiters.wake();
    await first;
    expect(waiters.size).toBe(1);
    waiters.wake();
    await again;
  });
});
