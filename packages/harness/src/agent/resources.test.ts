import { jest } from '@jest/globals';
import { type Resource, Resources } from './resources.js';

function resource(name: string, log: string[], more: Partial<Resource> = {}): Resource {
  return {
    name,
    start: () => Promise.resolve(void log.push(`start ${name}`)),
    stop: () => Promise.resolve(void log.push(`stop ${name}`)),
    ...more,
  };
}

const signal = new AbortController().signal;

describe('the resources of an agent', () => {
  it('start once, in order, and stop in reverse', async () => {
    const log: string[] = [];
    const resources = new Resources([resource('a', log), resource('b', log)], { warn: () => undefined });
    await resources.start(signal);
    await resources.start(signal);
    await resources.stop();
    await resources.stop();
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
    await resources.start(signal);
    expect(resources.isStarted).toBe(true);
  });

  it('are stopped in reverse if one does not start, or the start is aborted', async () => {
    const log: string[] = [];
    const aborting = new AbortController();
    const broken = resource('c', log, { start: () => Promise.reject(new Error('broken')) });
    const leaving = resource('c', log, { start: () => Promise.resolve(aborting.abort(new Error('left'))) });
    const warn = (): void => undefined;
    await expect(
      new Resources([resource('a', log), resource('b', log), broken], { warn }).start(signal),
    ).rejects.toThrow('broken');
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a']);
    log.length = 0;
    const aborted = new Resources([resource('a', log), leaving, resource('d', log)], { warn });
    await expect(aborted.start(aborting.signal)).rejects.toThrow('left');
    expect(log).toEqual(['start a', 'stop c', 'stop a']);
    expect(aborted.isStarted).toBe(false);
  });

  it('do not wait for ever for one that does not stop', async () => {
    jest.useFakeTimers();
    try {
      const log: string[] = [];
      const warnings: unknown[] = [];
      const stuck = resource('b', log, { stop: () => new Promise(() => undefined), stopTimeoutMs: 1_000 });
      const resources = new Resources([resource('a', log), stuck], { warn: (...each) => warnings.push(each) });
      await resources.start(signal);
      const stopped = resources.stop();
      await jest.advanceTimersByTimeAsync(1_000);
      await stopped;
      expect(log.at(-1)).toBe('stop a');
      expect(JSON.stringify(warnings)).toContain('1000 ms');
    } finally {
      jest.useRealTimers();
    }
  });
});
