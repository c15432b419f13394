import { StoreClock } from './store-clock.js';

/** A store whose clock is `aheadMs` ahead, asked over a line that takes the given times there and back. */
function setUp(aheadMs: number): {
  clock: StoreClock;
  ask(thereMs: number, backMs: number): void;
  set(aheadMs: number): void;
  pass(ms: number): void;
  error(): number;
} {
  let local = 1_000_000;
  let ahead = aheadMs;
  const clock = new StoreClock(() => local);
  return {
    clock,
    ask: (thereMs, backMs) => {
      const sentAt = local;
      local += thereMs;
      const answer = Math.floor(local + ahead);
      local += backMs;
      clock.learn(answer, sentAt);
    },
    set: (newAheadMs) => {
      ahead = newAheadMs;
    },
    pass: (ms) => {
      local += ms;
    },
    error: () => Math.abs(clock.now() - (local + ahead)),
  };
}

test('stands in with the local clock until the first answer', () => {
  const { clock, ask } = setUp(5_000);
  expect(clock.known).toBe(false);
  expect(clock.now()).toBe(1_000_000);
  ask(1, 1);
  expect(clock.known).toBe(true);
});

test('is right to within half of the quickest round trip', () => {
  const { ask, error, pass } = setUp(-7_200_000);
  ask(40, 2);
  expect(error()).toBeLessThan(21);
  ask(1, 1);
  expect(error()).toBeLessThan(1.1);
  // Slow ones after it do not spoil it.
  ask(0, 60);
  ask(80, 0);
  pass(1_000);
  expect(error()).toBeLessThan(1.1);
});

test.each([10_000, -10_000])('follows at once when the clock of the store is set by %d ms', (jumpMs) => {
  const { ask, error, set } = setUp(0);
  for (let i = 0; i < 8; i++) ask(1, 1);
  set(jumpMs);
  ask(5, 5);
  expect(error()).toBeLessThan(5.1);
});

test('a single quick answer does not count for ever', () => {
  const { ask, error, set } = setUp(0);
  ask(0, 0);
  // A clock that creeps: too little at a time to be a contradiction.
  for (let i = 1; i <= 40; i++) {
    set(i * 5);
    ask(2, 2);
  }
  expect(error()).toBeLessThan(45);
});
