import { jest } from '@jest/globals';
import { startTimer, within } from './long-timer.js';

const DAY_MS = 86_400_000;
const never = new Promise<never>(() => undefined);

describe('a wait', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('tells whether an event came in time, a failed one too', async () => {
    expect(await within(1_000, Promise.resolve())).toBe(true);
    expect(await within(1_000, Promise.reject(new Error('broken')))).toBe(true);
    const late = within(1_000, never);
    jest.advanceTimersByTime(1_000);
    expect(await late).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('may be for weeks, or without end', () => {
    let calls = 0;
    startTimer(30 * DAY_MS, () => (calls += 1));
    jest.advanceTimersByTime(30 * DAY_MS - 1);
    expect(calls).toBe(0);
    jest.advanceTimersByTime(1);
    expect(calls).toBe(1);
    startTimer(Infinity, () => (calls += 1))();
    expect(jest.getTimerCount()).toBe(0);
  });
});

it.each([true, false])('a timer holds the process that has nothing else to do: %s', (holdsProcess) => {
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const stop = startTimer(60_000, () => undefined, holdsProcess);
  expect(timers() - before).toBe(holdsProcess ? 1 : 0);
  stop();
  expect(timers()).toBe(before);
});
