import type { Message, SummaryEntry } from '../messages.js';
import { isSummary, summaryMessage } from './summary-message.js';
import type { MessageTokenEstimator } from './token-estimator.js';

const SHORTEST_SUMMARY = summaryMessage({
  content: '…',
  source: '',
  historyStart: 0,
  firstKept: 0,
  messageCount: 0,
  tokensBefore: 0,
});

/** A history and what its parts take, for choosing where to cut it. */
export class MeasuredHistory {
  /** Index after the leading system messages. */
  readonly start: number;
  readonly protectedTokens: number;
  /** The summary among the leading messages that a new one would replace. */
  readonly previous: { readonly summary: SummaryEntry; readonly tokens: number } | null;
  /** What even the shortest summary takes. */
  readonly leastSummaryTokens: number;
  /** Tokens from `start + i` to the end. */
  readonly #fromHere: readonly number[];

  constructor(
    readonly history: readonly Message[],
    estimator: MessageTokenEstimator,
  ) {
    const firstOther = history.findIndex((message) => message.role !== 'system');
    this.start = firstOther === -1 ? history.length : firstOther;
    const leading = history.slice(0, this.start);
    this.protectedTokens = leading.reduce((sum, message) => sum + estimator.estimateMessage(message), 0);
    const previous = leading.findLast(isSummary);
    this.previous =
      previous === undefined ? null : { summary: previous.summary, tokens: estimator.estimateMessage(previous) };
    this.leastSummaryTokens = estimator.estimateMessage(SHORTEST_SUMMARY);
    this.#fromHere = sumsToTheEnd(history, this.start, estimator);
  }

  /** What the messages from that index to the end take. */
  tokensFrom(index: number): number {
    return this.#fromHere[index - this.start] ?? 0;
  }

  /** Index of the newest user message before that index; null if there is none. */
  lastUserBefore(index: number): number | null {
    const found = this.history.slice(0, index).findLastIndex(({ role }) => role === 'user');
    return found === -1 ? null : found;
  }

  /** What can be cut: everything after the leading messages. */
  get tokens(): number {
    return this.tokensFrom(this.start);
  }
}

function sumsToTheEnd(history: readonly Message[], start: number, estimator: MessageTokenEstimator): number[] {
  const sums: number[] = [];
  let sum = 0;
  for (const message of history.slice(start).reverse()) {
    sum += estimator.estimateMessage(message);
    sums.push(sum);
  }
  return sums.reverse();
}
