import { getEventListeners } from 'node:events';
import { Lab, type LabOptions } from '../../test-support/lab.js';
import { LabTools } from '../../test-support/lab-tools.js';
import { MemoryJournal } from '../../test-support/memory-journal.js';
import type { FollowUpHandle } from '../agent/agent-api.js';
import type { ContextOptions } from '../agent/agent-options.js';
import type { AgentEvent } from '../events.js';
import { ContextOverflowError, ModelProviderError } from '../model/model-errors.js';
import {
  call,
  type ScriptedAnswer,
  type ScriptedEvents,
  ScriptedModel,
  type ScriptedStep,
  say,
  sayWith,
  usageOf,
} from '../model/scripted-model.js';

const SEEDS = Number(process.env['RUN_SEEDS'] ?? 4_000);
const FIRST_SEED = Number(process.env['RUN_FIRST_SEED'] ?? 1);

describe('any run, whatever happens in it', () => {
  it(`keeps the rules of events, history, result and journal (${String(SEEDS)} seeds)`, async () => {
    const outcomes = new Map<string, number>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      try {
        for (const reason of await playScenario(seed)) outcomes.set(reason, (outcomes.get(reason) ?? 0) + 1);
      } catch (error) {
        throw new Error(`RUN_FIRST_SEED=${String(seed)} RUN_SEEDS=1: ${String(error)}`, { cause: error });
      }
    }
    // A generator that no longer reaches an ending would check nothing of it.
    if (SEEDS >= 2_000) expect([...outcomes.keys()].toSorted()).toEqual(REACHED);
  }, 60_000);

  it('is the same every time it is played from the same seed', async () => {
    for (const seed of [3, 77, 1_234]) expect(await playScenario(seed)).toEqual(await playScenario(seed));
  });
});

const REACHED = [
  'behavior_stop',
  'compaction_failed',
  'content_filtered',
  'context_overflow',
  'empty_response',
  'external_abort',
  'max_no_tool_responses',
  'max_steps',
  'output_truncated',
  'persistence_failed',
  'repeated_tool_call',
  'runtime_error',
  'text_response',
  'token_budget_exceeded',
  'tool_cancelled',
  'tool_completion',
  'tool_rejected',
  'usage_unavailable',
];

/** Random decisions that depend on the seed alone. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2_654_435_761;
  }

  /** From 0 up to, not including, 1. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.roll() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.roll() * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

/** One agent through some runs in which anything may happen; the stop reasons of all of them. */
async function playScenario(seed: number): Promise<readonly string[]> {
  const dice = new Dice(seed);
  const caller = new AbortController();
  const handles: FollowUpHandle[] = [];
  const journal = dice.chance(0.5) ? journalOf(dice) : undefined;
  const model = new ScriptedModel([], { whenExhausted: answerOf(dice) });
  const lab: Lab = new Lab(model, {
    ...optionsOf(dice),
    handlers: [toolsOf(dice, () => lab.agent.abort('hung'))],
    ...(journal === undefined ? {} : { session: journal }),
    onEvent: (event) => disturb(event, dice, lab, caller, handles),
    sinks: [{ emit: () => (dice.chance(0.05) ? Promise.reject(new Error('sink')) : undefined) }],
  });
  const runs = Array.from({ length: 1 + dice.below(3) }, (_, index) => {
    const signal = dice.chance(0.5) ? { signal: caller.signal } : {};
    return lab.agent.run(`task ${String(index)}`, signal);
  });
  const results = await Promise.all(runs);
  await Promise.allSettled(handles.map((handle) => handle.wait()));
  await lab.check();
  if (lab.agent.canContinue) await lab.agent.continueRun();
  await lab.check();
  expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0);
  const heard = new Set(lab.results);
  // A run that left the line has a result and no events.
  for (const result of results) expect(heard.has(result) || result.turns === 0).toBe(true);
  await lab.agent.shutdown();
  return lab.results.map(({ stopReason }) => stopReason);
}

function optionsOf(dice: Dice): LabOptions {
  const budget = dice.pick([{}, {}, { maxTotalTokens: 35 }, { maxRequests: 2 }]);
  return {
    runtimePolicy: {
      maxSteps: 1 + dice.below(6),
      parallelToolCalls: dice.chance(0.5),
      maxParallelToolCalls: 1 + dice.below(3),
      requireExplicitFinish: dice.chance(0.2),
      maxNoToolResponses: 1 + dice.below(2),
      budget,
    },
    followUpFailurePolicy: dice.pick(['discard', 'continue']),
    steeringQueueCapacity: 1 + dice.below(3),
    hooks: dice.chance(0.3) ? [{ afterTurn: () => hookDecision(dice) }] : [],
    ...(dice.chance(0.4) ? { context: contextOf(dice) } : {}),
  };
}

function hookDecision(dice: Dice): undefined | { action: 'continue' | 'stop' } {
  if (dice.chance(0.05)) throw new Error('hook');
  return dice.pick([undefined, { action: 'continue' }, { action: 'continue' }, { action: 'stop' }]);
}

function contextOf(dice: Dice): ContextOptions {
  return {
    policy: { budget: { windowTokens: 150 + dice.below(400), reserveTokens: 50, keepRecentTokens: 20 } },
    compactor: {
      compact: async () => {
        await settle(dice);
        if (dice.chance(0.15)) throw new Error('no summary');
        return { content: 'sum', source: 'dice' };
      },
    },
    ...(dice.chance(0.8) ? { auto: {} } : {}),
  };
}

function journalOf(dice: Dice): MemoryJournal {
  const failAt = dice.chance(0.4) ? 1 + dice.below(12) : 0;
  return new MemoryJournal(async (call) => {
    await settle(dice);
    return call === failAt ? new Error('disk full') : null;
  });
}

function toolsOf(dice: Dice, abort: () => void): LabTools {
  const slowly = async (value: unknown): Promise<unknown> => {
    await settle(dice);
    return value;
  };
  const read = (): Promise<unknown> => slowly('read');
  return new LabTools({
    write: () => slowly('written'),
    read_a: read,
    read_b: read,
    hang: ({ signal }) => {
      setImmediate(abort);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('ended')), { once: true });
      });
    },
  });
}

const NAMES = [
  ...['write', 'write', 'read_a', 'read_a', 'read_b', 'read_b', 'report', 'boom', 'read_boom', 'nope'],
  ...['finish', 'refuse', 'giveup', 'hang'],
];

function answerOf(dice: Dice): ScriptedAnswer {
  let calls = 0;
  const batch = (): ReturnType<typeof call>[] =>
    Array.from({ length: 1 + dice.below(5) }, () => {
      calls += 1;
      const id = dice.chance(0.1) ? 'same' : dice.chance(0.03) ? '' : `c${String(calls)}`;
      const args = dice.chance(0.1) ? '{"broken' : dice.chance(0.4) ? {} : { n: calls };
      return call(id, dice.pick(NAMES), args);
    });
  const usage = (): { usage: ReturnType<typeof usageOf> | null } => ({
    usage: dice.chance(0.15) ? null : usageOf(1 + dice.below(20), 1 + dice.below(5)),
  });
  const completed = (response: ReturnType<typeof say>): ScriptedEvents => {
    const deltas = dice.chance(0.3) ? [{ type: 'text_delta' as const, delta: response.message.content ?? '' }] : [];
    return [...deltas, { type: 'completed', response }];
  };
  const repeated = say(null, call('r', 'write', { same: true }), call('r', 'write', { same: true }));
  return async (): Promise<ScriptedStep> => {
    await settle(dice);
    const roll = dice.roll();
    if (roll < 0.55) return completed(sayWith(usage(), dice.pick([null, 'text']), ...batch()));
    if (roll < 0.58) return repeated;
    if (roll < 0.66) return completed(sayWith({ ...usage(), finishReason: 'length' }, 'cut', ...batch()));
    if (roll < 0.69) return sayWith({ finishReason: 'length' }, 'cut');
    if (roll < 0.72) return sayWith({ finishReason: 'content_filter' }, 'no', ...(dice.chance(0.5) ? batch() : []));
    if (roll < 0.75) return [{ type: 'text_delta', delta: 'half' }, new ModelProviderError('provider_error', 'reset')];
    if (roll < 0.8) return new ContextOverflowError('too long');
    if (roll < 0.82) return say(null);
    return completed(sayWith(usage(), 'words '.repeat(1 + dice.below(40))));
  };
}

/** Acts upon the agent at any event. */
function disturb(
  event: AgentEvent,
  dice: Dice,
  { agent }: Lab,
  caller: AbortController,
  handles: FollowUpHandle[],
): Promise<void> | void {
  const roll = dice.roll();
  if (roll < 0.015) agent.abort('dice');
  else if (roll < 0.025) caller.abort();
  else if (roll < 0.08) agent.steer(`steer ${String(event.sequence)}`);
  else if (roll < 0.1) handles.push(agent.followUp('more'));
  else if (roll < 0.15) return settle(dice);
  else if (roll < 0.18) throw new Error('sink');
}

/** Gives way to others for a while that the dice choose. */
async function settle(dice: Dice): Promise<void> {
  for (let times = dice.below(3); times > 0; times -= 1) await new Promise((resolve) => setImmediate(resolve));
}
