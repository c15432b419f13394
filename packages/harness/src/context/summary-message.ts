import type { Message, SummaryEntry, SystemMessage } from '../messages.js';

const HEADER = 'Summary of the conversation so far:';

/** A summary as the model is shown it, with its metadata beside the text. */
export function summaryMessage(summary: SummaryEntry): SystemMessage {
  return { role: 'system', content: `${HEADER}\n\n${summary.content}`, summary };
}

/** True for a message that stands for older history. */
export function isSummary(message: Message): message is SystemMessage & { readonly summary: SummaryEntry } {
  return message.role === 'system' && message.summary !== undefined;
}
