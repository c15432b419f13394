import { DEFAULT_GUARD, detectOutage, guardedDeadline } from './guard.js';

const SWEPT = 100_000;

describe('an outage', () => {
  test('is a silence longer than the threshold that concerns more than half of the agents', () => {
    const outage = detectOutage(SWEPT, SWEPT + 3_001, { concerned: 6, known: 10 }, DEFAULT_GUARD);
    expect(outage).toEqual({ awayFromMs: SWEPT, backAtMs: SWEPT + 3_001 });
  });

  test.each([
    ['the silence is short', 2_000, 10, 10, {}],
    ['only half of the agents are concerned', 60_000, 5, 10, {}],
    ['nobody is concerned', 60_000, 0, 0, {}],
    ['they are fewer than the settings ask for', 60_000, 4, 4, { minAgents: 5 }],
    ['a larger share is asked for', 60_000, 8, 10, { share: 0.8 }],
  ])('is none when %s', (_, silenceMs, concerned, known, settings) => {
    expect(
      detectOutage(SWEPT, SWEPT + silenceMs, { concerned, known }, { ...DEFAULT_GUARD, ...settings }),
    ).toBeUndefined();
  });

  test('concerns a single agent too', () => {
    expect(detectOutage(SWEPT, SWEPT + 10_000, { concerned: 1, known: 1 }, DEFAULT_GUARD)).toBeDefined();
  });
});

describe('the deadline that counts', () => {
  const outage = { awayFromMs: 100_000, backAtMs: 140_000 };

  test('is one lease after the return for whoever could not renew', () => {
    expect(guardedDeadline(100_000, 30_000, outage)).toBe(170_000);
    expect(guardedDeadline(129_000, 30_000, outage)).toBe(170_000);
    expect(guardedDeadline(169_999, 30_000, outage)).toBe(170_000);
  });

  test('stays for whoever was over before the outage or has renewed after it', () => {
    expect(guardedDeadline(99_999, 30_000, outage)).toBe(99_999);
    expect(guardedDeadline(170_000, 30_000, outage)).toBe(170_000);
    expect(guardedDeadline(175_000, 30_000, outage)).toBe(175_000);
  });

  test('is not moved twice, and by nothing without an outage', () => {
    const once = guardedDeadline(110_000, 30_000, outage);
    expect(guardedDeadline(once, 30_000, outage)).toBe(once);
    expect(guardedDeadline(110_000, 30_000, undefined)).toBe(110_000);
  });
});
