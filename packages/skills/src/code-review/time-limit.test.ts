import { runWithin } from './time-limit.js';

describe('runWithin', () => {
  it('gives the value of work that ends in time, also if that is undefined', () => {
    expect(runWithin(1_000, () => 42)).toEqual({ kind: 'done', value: 42 });
    expect(runWithin(1_000, () => undefined)).toEqual({ kind: 'done', value: undefined });
  });

  it('passes on what the work throws', () => {
    expect(() =>
      runWithin(1_000, () => {
        throw new RangeError('too much');
      }),
    ).toThrow('too much');
  });

  it('breaks off work that would never end', () => {
    let rounds = 0;
    const result = runWithin(20, () => {
      for (;;) rounds += 1;
    });
    expect(result).toEqual({ kind: 'out_of_time' });
    expect(rounds).toBeGreaterThan(0);
  });

  it('breaks off a regular expression that would take for ever', () => {
    expect(runWithin(20, () => /^(?:a+)+$/.test(`${'a'.repeat(60)}b`))).toEqual({ kind: 'out_of_time' });
  });
});
