import { ContextOverflowError } from '@parley/harness';
import { Lab, call, respond, say } from './lab.mjs';

class Summaries {
  requests = [];

  constructor(fails = false) {
    this.fails = fails;
  }

  async compact(request) {
    this.requests.push(request);
    if (this.fails) throw new Error('summary model down');
    return { content: `S${this.requests.length}`, source: 'test' };
  }
}

const policy = (windowTokens = 200, reserveTokens = 50, keepRecentTokens = 20) => ({
  budget: { windowTokens, reserveTokens, keepRecentTokens },
});
const roomy = () => policy(100_000, 10, 1);
const overflow = (text) => new ContextOverflowError(text);

/** An agent without tools that compacts by itself. */
const automatic = (steps, compactor, limits) =>
  new Lab(steps, { tools: false, context: { policy: limits, compactor, auto: {} } });

async function played(lab, ...tasks) {
  for (const task of tasks) await lab.run(task);
  return lab;
}

export const context = {
  pressure_observed_only: () =>
    played(new Lab([say('a'.repeat(400)), say('b')], { tools: false, context: { policy: policy() } }), 'one', 'two'),
  pressure_auto_compaction: async () => {
    const summaries = new Summaries();
    const steps = [...['a', 'b', 'c'].map((letter) => say(letter.repeat(400))), say('d')];
    const lab = await played(automatic(steps, summaries, policy()), 'one', 'two', 'three', 'four');
    lab.notes.previous_summary_passed = summaries.requests.map(
      ({ previousSummary }) => previousSummary?.content ?? null,
    );
    return lab;
  },
  overflow_recovered: () =>
    played(automatic([say('a'), overflow('too big'), say('fits')], new Summaries(), roomy()), 'one', 'two'),
  overflow_twice: () =>
    played(
      automatic([say('a'), overflow('too big'), overflow('still too big')], new Summaries(), roomy()),
      'one',
      'two',
    ),
  overflow_after_delta: () =>
    played(
      automatic(
        [say('a'), [{ type: 'text_delta', delta: 'x' }, overflow('too big')], say('never')],
        new Summaries(),
        roomy(),
      ),
      'one',
      'two',
    ),
  overflow_nothing_to_compact: () =>
    played(automatic([overflow('too big'), say('never')], new Summaries(), roomy()), 'one'),
  compactor_fails: () =>
    played(
      automatic([say('a'.repeat(300)), say('b'.repeat(300)), say('never')], new Summaries(true), policy(200, 50, 1)),
      'one',
      'two',
      'three',
    ),
  explicit_compaction: async () => {
    const lab = new Lab([say('a'), say('b')], {
      tools: false,
      context: { policy: roomy(), compactor: new Summaries() },
    });
    await played(lab, 'one', 'two');
    lab.notes.status = (await lab.agent.compact()).status;
    lab.notes.second = (await lab.agent.compact()).status;
    return lab;
  },
  one_long_turn_never_compacts: () =>
    played(
      new Lab(
        [...[0, 1, 2, 3, 4, 5].map((i) => say(null, call(`c${i}`, 'write', { i, pad: 'x'.repeat(200) }))), say('end')],
        { context: { policy: policy(400, 50, 20), compactor: new Summaries(), auto: {} } },
      ),
      'one huge task',
    ),
  stale_usage_after_compaction: () =>
    played(
      automatic(
        [respond('a', [], 50), respond('b', [], 5_000), respond('c', [], null), respond('d', [], null)],
        new Summaries(),
        policy(1_000, 100, 30),
      ),
      'one',
      'two',
      'three',
      'four',
    ),
};
