import type { Message } from '../messages.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import type { ContextUsageEstimate } from './compaction-types.js';
import { reportedTokens } from './reported-tokens.js';
import { cachedEstimator, defaultEstimator, type MessageTokenEstimator } from './token-estimator.js';

/**
 * Measures one growing context again and again. Only messages that were not at the same place the last time are
 * estimated; those that were cost one comparison of references each.
 *
 * One meter belongs to one run loop.
 */
export class ContextMeter {
  /** Asks the given estimator once for each message. */
  readonly estimator: MessageTokenEstimator;
  readonly #messages: Message[] = [];
  /** Tokens of the messages up to and with each index. */
  readonly #sums: number[] = [];
  #reportIndex = -1;
  #tools: readonly ToolDefinition[] = [];
  #toolTokens = 0;

  constructor(estimator?: MessageTokenEstimator) {
    this.estimator = estimator === undefined ? defaultEstimator : cachedEstimator(estimator);
  }

  /** Estimate of what leads every request: the tools and the system messages before the first other message. */
  get leadingTokens(): number {
    const first = this.#messages.findIndex((message) => message.role !== 'system');
    const last = (first === -1 ? this.#messages.length : first) - 1;
    return (this.#sums[last] ?? 0) + this.#toolTokens;
  }

  /** What a request with these messages and tools takes, see {@link estimateContextUsage}. */
  measure(messages: readonly Message[], tools: readonly ToolDefinition[]): ContextUsageEstimate {
    this.#takeTools(tools);
    this.#dropFrom(this.#commonLength(messages));
    for (let at = this.#messages.length; at < messages.length; at++) this.#add(messages[at]);
    return this.#estimate();
  }

  #takeTools(tools: readonly ToolDefinition[]): void {
    if (tools.length === this.#tools.length && tools.every((tool, at) => tool === this.#tools[at])) return;
    // A copy: the caller's array may grow.
    this.#tools = [...tools];
    this.#toolTokens = this.estimator.estimateTools(tools);
  }

  #commonLength(messages: readonly Message[]): number {
    const mine = this.#messages;
    const limit = Math.min(mine.length, messages.length);
    let length = 0;
    while (length < limit && mine[length] === messages[length]) length++;
    return length;
  }

  #dropFrom(length: number): void {
    this.#messages.length = length;
    this.#sums.length = length;
    if (this.#reportIndex >= length) this.#reportIndex = lastReport(this.#messages);
  }

  #add(message: Message | undefined): void {
    if (message === undefined) return;
    this.#sums.push((this.#sums.at(-1) ?? 0) + this.estimator.estimateMessage(message));
    this.#messages.push(message);
    if (reportedTokens(message) !== null) this.#reportIndex = this.#messages.length - 1;
  }

  #estimate(): ContextUsageEstimate {
    const full = (this.#sums.at(-1) ?? 0) + this.#toolTokens;
    const messageCount = this.#messages.length;
    const report = this.#messages[this.#reportIndex];
    const reported = report === undefined ? null : reportedTokens(report);
    if (reported === null) {
      return { totalTokens: full, source: 'estimated', reportedTokens: null, estimatedTokens: full, messageCount };
    }
    const since = (this.#sums.at(-1) ?? 0) - (this.#sums[this.#reportIndex] ?? 0);
    const totalTokens = Math.max(reported + since, full);
    const source = totalTokens === reported ? 'reported' : 'mixed';
    return { totalTokens, source, reportedTokens: reported, estimatedTokens: totalTokens - reported, messageCount };
  }
}

function lastReport(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => reportedTokens(message) !== null);
}

/**
 * How many tokens a request takes: what the newest answer reported and an estimate of what came after it, but at least
 * an estimate of everything. Without a report it is that estimate alone.
 */
export function estimateContextUsage(
  messages: readonly Message[],
  tools: readonly ToolDefinition[] = [],
  estimator?: MessageTokenEstimator,
): ContextUsageEstimate {
  return new ContextMeter(estimator).measure(messages, tools);
}
