import { jest } from '@jest/globals';
import { IdleClock } from './idle-clock.js';

const IDLE_MS = 1_000;
/** For what came in time and was not read yet. */
const LAST_LOOK_MS = 50;

describe('the clock for silence', () => {
  let idles = 0;
  let clock: IdleClock;

  beforeEach(() => {
    jest.useFakeTimers();
    idles = 0;
    clock = new IdleClock(IDLE_MS, () => (idles += 1));
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('tells once that nothing has come for so long', () => {
    clock.start();
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(idles).toBe(0);
    jest.advanceTimersByTime(10 * IDLE_MS);
    expect(idles).toBe(1);
  });

  it('does not blame the child for what was not read yet', () => {
    clock.start();
    jest.advanceTimersByTime(IDLE_MS);
    clock.touch();
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(idles).toBe(0);
    jest.advanceTimersByTime(1 + LAST_LOOK_MS);
    expect(idles).toBe(1);
  });

  it('begins anew with each message', () => {
    clock.start();
    jest.advanceTimersByTime(IDLE_MS - 1);
    clock.touch();
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(idles).toBe(0);
    jest.advanceTimersByTime(1 + LAST_LOOK_MS);
    expect(idles).toBe(1);
  });

  it('stands while somebody else is waited for, and begins anew then', () => {
    clock.start();
    clock.hold();
    clock.hold();
    jest.advanceTimersByTime(5.5 * IDLE_MS);
    clock.release();
    jest.advanceTimersByTime(5 * IDLE_MS);
    clock.release();
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(idles).toBe(0);
    jest.advanceTimersByTime(1 + LAST_LOOK_MS);
    expect(idles).toBe(1);
  });

  it('stands too when it is held before it starts', () => {
    clock.hold();
    clock.start();
    jest.advanceTimersByTime(5 * IDLE_MS);
    expect(idles).toBe(0);
  });

  it('leaves no timer when it is stopped', () => {
    clock.start();
    clock.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
