import type { CompactionRequest } from './compaction-types.js';
import { headOf } from './cut-text.js';
import { summaryMessage } from './summary-message.js';
import { defaultEstimator } from './token-estimator.js';

const MARKER = ' … [cut]';
const STEP = 0.9;

/**
 * The summary, cut if it has more than `maxChars` characters, or if it would take no less than what it replaces: such
 * a summary would be refused, and a run fail for it.
 */
export function fitSummary(text: string, request: CompactionRequest, maxChars: number): string {
  const limit = replacedTokens(request);
  let fitted = text.length <= maxChars ? text : cut(text, maxChars);
  let length = fitted.length;
  while (messageTokens(fitted, request) >= limit && length > MARKER.length) {
    length = Math.floor(length * STEP);
    fitted = cut(text, length);
  }
  return fitted;
}

function cut(text: string, length: number): string {
  return `${headOf(text, length - MARKER.length)}${MARKER}`;
}

function replacedTokens({ preparation, previousSummary }: CompactionRequest): number {
  const previous = previousSummary === null ? [] : [summaryMessage(previousSummary)];
  const replaced = [...previous, ...preparation.messagesToSummarize];
  return replaced.reduce((sum, message) => sum + defaultEstimator.estimateMessage(message), 0);
}

function messageTokens(content: string, { preparation }: CompactionRequest): number {
  const { historyStart, firstKept, tokensBefore } = preparation;
  const entry = { content, source: '', historyStart, firstKept, messageCount: 0, tokensBefore };
  return defaultEstimator.estimateMessage(summaryMessage(entry));
}
