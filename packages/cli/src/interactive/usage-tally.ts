import type { AgentRunResult, RunUsage } from '@parley/harness';
import { type Block, gap, text } from '../ui/block.js';
import { counted, tokens } from '../ui/numbers.js';

type Counter = 'inputTokens' | 'outputTokens' | 'totalTokens' | 'cacheReadTokens' | 'reasoningTokens';

const COUNTERS: readonly (readonly [Counter, string])[] = [
  ['inputTokens', 'input'],
  ['outputTokens', 'output'],
  ['totalTokens', 'total'],
  ['cacheReadTokens', 'read from cache'],
  ['reasoningTokens', 'reasoning'],
];

/** Adds up what runs used. A counter that one run does not know is unknown for all. */
export class UsageTally {
  #runs = 0;
  #requests = 0;
  #last: RunUsage | undefined;
  readonly #sums: Record<Counter, number | null> = {
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    cacheReadTokens: 0,
    reasoningTokens: 0,
  };

  add({ usage }: Pick<AgentRunResult, 'usage'>): void {
    this.#runs += 1;
    this.#requests += usage.requestCount;
    this.#last = usage;
    for (const [name] of COUNTERS) {
      const sum = this.#sums[name];
      const more = usage[name];
      this.#sums[name] = sum === null || more === null ? null : sum + more;
    }
  }

  render(): Block[] {
    if (this.#last === undefined) return [gap, text('no run yet', 'dim')];
    const head = `${counted(this.#runs, 'run')}, ${counted(this.#requests, 'request')}`;
    return [gap, text(`last run: ${describe(this.#last)}`), text(`since the start (${head}): ${describe(this.#sums)}`)];
  }
}

function describe(usage: Readonly<Record<Counter, number | null>>): string {
  return COUNTERS.map(([name, label]) => `${label} ${tokens(usage[name])}`).join(' · ');
}
