import { getEventListeners } from 'node:events';
import { jest } from '@jest/globals';
import { succeedsWithin, waitFor, type WaitLimits } from './waits.js';

const never = new Promise<never>(() => undefined);

function limits(more: Partial<WaitLimits> = {}): WaitLimits {
  return {
    signal: new AbortController().signal,
    timeoutMs: 1_000,
    timeoutError: () => new Error('too late'),
    abortError: () => new Error('aborted'),
    ...more,
  };
}

describe('waiting', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('gives what comes, and leaves no timer and no listener', async () => {
    const { signal } = new AbortController();
    const work = Promise.resolve(7);
    const waiting = waitFor(work, limits({ signal }));
    expect([jest.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
    expect(await waiting).toBe(7);
    await expect(waitFor(Promise.reject(new Error('broken')), limits({ signal }))).rejects.toThrow('broken');
    expect([jest.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
  });

  it('ends when the time is over', async () => {
    const waiting = expect(waitFor(never, limits())).rejects.toThrow('too late');
    jest.advanceTimersByTime(1_000);
    await waiting;
  });

  it('ends when it is aborted, also before', async () => {
    const controller = new AbortController();
    const waiting = expect(waitFor(never, limits({ signal: controller.signal }))).rejects.toThrow('aborted');
    controller.abort();
    await waiting;
    await expect(waitFor(Promise.resolve(7), limits({ signal: controller.signal }))).rejects.toThrow('aborted');
    expect([jest.getTimerCount(), getEventListeners(controller.signal, 'abort').length]).toEqual([0, 0]);
  });

  it('tells whether it came to a good end in time', async () => {
    expect(await succeedsWithin(1_000, Promise.resolve())).toBe(true);
    expect(await succeedsWithin(1_000, Promise.reject(new Error('broken')))).toBe(false);
    const late = succeedsWithin(1_000, never);
    jest.advanceTimersByTime(1_000);
    expect(await late).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is not disturbed by work that fails later', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = expect(waitFor(promise, limits())).rejects.toThrow('too late');
    jest.advanceTimersByTime(1_000);
    await waiting;
    reject(new Error('nobody listens'));
    await Promise.resolve();
  });
});
