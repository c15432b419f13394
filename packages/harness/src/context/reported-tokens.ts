import type { Message } from '../messages.js';

/**
 * How many tokens a model reported for the request that gave this message and the message itself; null if it did not.
 * A report of nothing is none: an answer that broke off often brings zeros.
 */
export function reportedTokens(message: Message): number | null {
  if (message.role !== 'assistant' || message.usage === undefined || message.usage === null) return null;
  const { totalTokens, inputTokens, outputTokens } = message.usage;
  const total = totalTokens ?? (inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens);
  return total !== null && Number.isFinite(total) && total > 0 ? total : null;
}

/**
 * The message without its report. What a model counted before a cut says nothing about the context after it, so that
 * messages which survive a compaction lose it.
 */
export function withoutReport(message: Message): Message {
  if (message.role !== 'assistant' || message.usage === undefined || message.usage === null) return message;
  return { ...message, usage: null };
}
