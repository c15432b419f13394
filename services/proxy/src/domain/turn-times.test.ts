import { TurnTimes } from './turn-times.js';

describe('TurnTimes', () => {
  it('are whole microseconds, each later than the one before, though the clock stands still or goes back', () => {
    const clock = [1000.0004, 1000.0004, 900, 1000.5, 1000.5006];
    const times = new TurnTimes(() => clock.shift() ?? 0);
    const told = Array.from({ length: 6 }, () => times.now());
    expect(told).toEqual([1000, 1000.001, 1000.002, 1000.5, 1000.501, 1000.502]);
  });

  it('stay apart at the times of today', () => {
    const times = new TurnTimes(() => 1_796_000_000_000.123);
    const told = Array.from({ length: 1000 }, () => times.now());
    expect(new Set(told.map((at) => Math.round(at * 1000))).size).toBe(1000);
    expect(told.toSorted((one, other) => one - other)).toEqual(told);
  });

  it('go on after those of an earlier life', () => {
    const times = new TurnTimes(() => 5);
    times.startAfter(7.25);
    times.startAfter(6);
    expect([times.now(), times.now()]).toEqual([7.251, 7.252]);
  });
});
